"""Bandit problems from data sets, one for the validation and one for the test part."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from fairx import datasets, rules
from fairx.datasets.features import fourier_features, linear_fit, median_distance
from fairx.environments import Bernoulli, Labelled, Linear
from fairx.merit import Merit
from fairx.simulation.places import Places
from fairx.theory import misspecification_regret
from fairx.types import Matrix, Vector

from .parts import LoggedPart, Part
from .problem import MadeUp, Problem

if TYPE_CHECKING:
    from fairx.replay import yahoo

# By name, the days that tune and the days that test.
YAHOO = {"yahoo": ((1,), (2,)), "yahoo-ten-days": ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10))}
_one_at_a_time = threading.Lock()


def dataset(
    problem: Problem, directory: str | None = None
) -> datasets.Dataset | yahoo.About | MadeUp:
    """Return the data of a problem, or what is to be said of them."""
    if problem.means is not None or problem.world is not None:
        return MadeUp(problem.means or problem.world)
    with _one_at_a_time:
        if problem.data in YAHOO:
            return _about(problem.data, directory)
        return _loaded(problem.data, directory, problem.labels)


def part(
    problem: Problem, which: str, seed: int, directory: str | None = None
) -> Part | LoggedPart:
    """Return the "validation" or the "test" part of a problem; split and features by `seed`."""
    found = dataset(problem, directory)
    if problem.world is not None:
        world = problem.arriving(problem.environment())
        return Part(world, _means_on_the_way(problem), 0, problem.places())
    if problem.means is not None:
        return _late(problem, _without_contexts(np.array(problem.means), problem.places()))
    with _one_at_a_time:  # not by two threads at once
        if problem.data in YAHOO:
            _refuse_places(problem)
            return _logged(problem.data, problem.setting, which, found.checksum, directory)
        return _late(problem, _made(problem, which, seed, found.checksum, directory))


def _late(problem: Problem, found: Part) -> Part:
    return found._replace(environment=problem.arriving(found.environment))


@functools.lru_cache(maxsize=8)
def _means_on_the_way(problem: Problem) -> Matrix:
    """Return the means of a world that moves at 400 times of the first 100,000 rounds, for what is shown.

    Times are drawn at random, as means may have a period. A random walk is that of a run of its own, with
    a step for each of these times.
    """
    rng = np.random.default_rng(0)
    world = problem.environment().world(rng)
    rows = np.empty((400, world.features.shape[1]))
    times = np.sort(rng.integers(100_000 // world.every + 1, size=len(rows))) * world.every
    with np.errstate(over="ignore"):
        for t, row in zip(times.tolist(), rows, strict=True):
            world.fill_means(world.pick(0.5, t), row)
    return rows


def settles(problem: Problem, seed: int, merit: Merit, directory: str | None = None) -> float:
    """Return the fairness regret a round that misspecification leaves in the end.

    It is 0 where the model is true, where no fixed point is found, and for several places.
    """
    if problem.data in YAHOO or problem.setting != "linear" or problem.weights is not None:
        return 0.0
    found: Any = part(problem, "test", seed, directory)
    try:
        return misspecification_regret(merit, *map(np.asarray, found.environment))
    except ValueError:
        return 0.0


@functools.lru_cache(maxsize=4)
def _loaded(name: str, directory: str | None, labels: int | None) -> datasets.Dataset:
    return datasets.load(name, directory=directory, labels=labels)


@functools.lru_cache
def _about(name: str, directory: str | None) -> yahoo.About:
    from fairx.replay import yahoo  # DuckDB is another extra

    return yahoo.about([day for days in YAHOO[name] for day in days], directory)


@functools.lru_cache(maxsize=2)
def _logged(
    name: str, setting: str, which: str, checksum: str, directory: str | None
) -> LoggedPart:
    from fairx.replay import yahoo

    days = YAHOO[name][which == "test"]
    return LoggedPart(yahoo.load(days, directory).log(setting))


@functools.lru_cache(maxsize=2)  # mediamill's two parts are 1.8 GB
def _made(problem: Problem, which: str, seed: int, checksum: str, directory: str | None) -> Part:
    found = _loaded(problem.data, directory, problem.labels)
    validation, test = datasets.split(len(found.labels), problem.validation, seed)
    rows = {"validation": validation, "test": test}[which]
    labels = found.labels[rows]
    if problem.setting == "mab":
        # Each round shows one example and pays one of its labels: with the examples sorted by
        # that label, this is to compare a uniform number with the label's frequency.
        return _without_contexts(labels.mean(axis=0), problem.places())
    arms, bandwidth = labels.shape[1], problem.bandwidth
    if bandwidth == "median":
        bandwidth = median_distance(found.features, arms, seed=seed)
    contexts = fourier_features(
        found.features[rows], arms, seed=seed, dimension=problem.dimension, bandwidth=bandwidth
    )
    parameter = linear_fit(contexts, labels)
    environment: Any = Labelled(contexts, labels, parameter)
    if problem.setting == "well-specified":
        environment = Linear(contexts, parameter, problem.noise_std)
    return Part(environment, contexts @ parameter, problem.dimension, problem.places())


def _without_contexts(means: Vector, places: Places | None) -> Part:
    return Part(Bernoulli(means), means[None], 0, places)


def _refuse_places(problem: Problem) -> None:
    if problem.weights is not None:
        rule = f"be left out for {problem.data}, not {list(problem.weights)}: its log has one place"
        raise rules.InvalidValue("weights", rule)
