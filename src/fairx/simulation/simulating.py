"""Play a policy against an environment, many times and on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fairx import rules
from fairx.environments import Environment, MovingEnvironment, Prior
from fairx.environments.base import is_moving, world_of
from fairx.merit import Merit
from fairx.policies import Policy
from fairx.policies.base import inner_form
from fairx.types import Indices

from .catalogue_run import CatalogueRun, suits_catalogue
from .measures import Round, measures_of
from .one_run import OneRun, with_places
from .places import Places, check_late, check_places, places_given
from .provenance import Provenance, provenance
from .result import Result
from .runs import check_merits, checkpoint_rounds, gathered, generator_of, played, run_numbers

DEVICES = ("cpu", "cuda")


def simulate(
    policy: Policy[Any],
    environment: Environment | MovingEnvironment | Prior,
    judge: Merit,
    *,
    rounds: int,
    seed: int,
    runs: int | Sequence[int] = 1,
    checkpoints: int | Sequence[int] = 200,
    measures: Mapping[str, Callable[[Round], float]] = MappingProxyType({}),
    weights: Any = None,
    feedback: str = "each",
    examination: Any = None,
    device: str = "cpu",
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play `runs` runs of `rounds` rounds and judge every deployed policy by `judge`.

    Parameters
    ----------
    policy, environment
        Ours, or records of your own with the public methods; those are compiled too.
    judge
        The merit that says what would have been fair.
    runs
        How many, numbered from 0, or the numbers of those to play.
    seed
        Run i is a function of (seed, i) alone: neither `runs` nor `jobs` changes it.
    checkpoints
        How many, evenly spaced, or which rounds to record the regrets at.
    measures
        Functions of a `Round`, by name: what they return is summed over the rounds, as the regrets
        are. They are compiled into the loop where that can be done.
    weights
        For pages of several places, one per place, as for `fair_exposure`. Exposures take the place of
        probabilities; regrets are those of docs/slates.md.
    feedback
        With places: "each", the reward of each is seen; or "examined", that of a place is seen if it
        was looked at, and 0 otherwise.
    examination
        By place, the chance that it is looked at; the weights by default.
    device
        "cpu", or "cuda" for a GPU of NVIDIA's: all runs at once, with the same choices (docs/gpu.md).
    jobs
        How many runs at a time; all cores by default.
    progress
        Called from the playing threads with the number of rounds just played, every tenth of a
        second; what it raises ends the simulation. By default, a bar on a terminal.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS, environments, simulate
    >>> merit = Exponential(10)
    >>> world = environments.Bernoulli([0.3, 0.5, 0.6])
    >>> result = simulate(FairXTS(merit, 1, 0.5), world, merit, rounds=5000, runs=2, seed=1)
    >>> result.exposure.round(2)
    array([[0.01, 0.25, 0.74],
           [0.04, 0.2 , 0.76]])
    >>> policy = FairXTS(merit, 1, 0.5)
    >>> result = simulate(policy, world, merit, rounds=5000, seed=1, weights=[1, 0.5])
    >>> result.exposure.round(2), result.placements.round(2).tolist()
    (array([[0.06, 0.45, 0.99]]), [[[0.0, 0.11], [0.01, 0.89], [0.99, 0.01]]])
    """
    marks = checkpoint_rounds(checkpoints, rules.count("rounds", rounds))
    seed, numbers = rules.count("seed", seed, low=0), run_numbers(runs)
    inner_form(policy), measures_of(measures)  # refused before anything is looked at
    if device not in DEVICES:
        raise rules.InvalidValue("device", f"be one of {', '.join(DEVICES)}, not {device!r}")
    places = places_given(weights, feedback, examination)
    # A prior has no `draw`, but other means in each run, as has what starts anew.
    anew = is_moving(environment) or not hasattr(environment, "draw")
    for run in numbers if anew else numbers[:1]:
        world = world_of(environment, generator_of(seed, run))
        check_merits(policy, judge, world)
        check_places(places, policy, world)
    origin = provenance(policy, environment, judge, seed, int(marks[-1]), measures, places)
    return play_checked(
        policy, environment, judge, numbers, marks, origin, measures, jobs, progress, places, device
    )


def play_checked(
    policy: Any, environment: Any, judge: Merit, numbers: Sequence[int], marks: Indices,
    origin: Provenance, measures: Mapping[str, Callable[[Round], float]] = MappingProxyType({}),
    jobs: int | None = None, progress: Callable[[int], None] | None = None,
    places: Places | None = None, device: str = "cpu",
) -> Result:  # fmt: skip
    """Play runs that were checked before, from a world whose provenance is known.

    Both read all data of a world: for mediamill, two seconds a run in an experiment of thousands.
    """
    check_late(places, environment)
    kernel = inner_form(policy)
    if places is None and not measures and device == "cpu" and suits_catalogue(kernel, environment):
        alike = kernel, environment, judge
        many = [CatalogueRun(alike, marks, origin.seed, run) for run in numbers]
        return played(many, marks, jobs, progress, measures, origin)
    records = kernel, environment, judge, measures_of(measures)
    found = [OneRun(records, len(measures), marks, origin.seed, run, places) for run in numbers]
    if device == "cuda":
        from .on_gpu import play_on_gpu

        play_on_gpu(found, progress)
        return gathered(found, marks, measures, origin)
    return with_places(played(found, marks, jobs, progress, measures, origin), found)
