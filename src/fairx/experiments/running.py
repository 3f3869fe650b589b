"""Tune on the validation part, then play what was chosen on the test part (Section 5.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairx.merit import Merit, check_conditions
from fairx.policies.base import inner_form
from fairx.simulation import Provenance, Result
from fairx.simulation.bands import standard_deviation
from fairx.types import Vector

from . import problems
from .execution import Player
from .notions import measured_by_name, unfairness
from .outcome import Curve, Outcome, Panel, Tried
from .parts import LoggedPart, Part
from .progress import Progress
from .rows import Rows
from .specification import Entrant, Experiment, built
from .tasks import Row, Task, test_tasks, validation_tasks


def check(experiment: Experiment, directory: str | None = None) -> str:
    """Build every policy of every grid on the data, and return the checksum of the data.

    Whatever cannot be played is refused here, before any work.
    """
    checksum = problems.dataset(experiment.problem, directory).checksum
    parts = [
        problems.part(experiment.problem, which, experiment.seed, directory)
        for which in ("test", "validation")
    ]
    for merit in experiment.merits:
        for part in parts:
            check_conditions(merit, *part.mean_range())
        for entrant in experiment.policies:
            for point in entrant.points():
                _check_policy(entrant, point, merit, parts[0])
    return checksum


def _check_policy(entrant: Entrant, point: Any, merit: Merit, part: Part | LoggedPart) -> None:
    try:
        policy = built(entrant.described(point, merit))
        inner_form(policy)
        policy.start(part.arms, part.dimension)
        if getattr(policy, "merit", merit) != merit:  # one of its own
            check_conditions(policy.merit, *part.mean_range())
        part.check_policy(policy)
    except (TypeError, ValueError, AttributeError) as error:
        where = "".join(f", {name} = {value}" for name, value in point.items())
        raise ValueError(f"{entrant.label}{where} cannot be played: {error}") from error


def conduct(
    experiment: Experiment, rows: Rows, player: Player, directory: str | None = None
) -> Outcome:
    """Play whatever is not in `rows` yet, and return the outcome."""
    play_missing([(experiment, check(experiment, directory))], rows, player)
    return outcome(experiment, rows, directory)


def play_missing(planned: Sequence[tuple[Experiment, str]], rows: Rows, player: Player) -> None:
    """Tune all of some experiments, then test all, playing whatever is not in `rows` yet.

    Each comes with the checksum that `check` returned.
    """
    names = ", ".join(experiment.name for experiment, _ in planned)
    tuning = [task for experiment, checksum in planned for task in _tuning(experiment, checksum)]
    _add_missing(f"{names}, tuning", tuning, rows, player)
    tests = [task for one, checksum in planned for task in _tests(one, checksum, rows)]
    _add_missing(f"{names}, test", tests, rows, player)


def _tuning(experiment: Experiment, checksum: str) -> list[Task]:
    return [
        task
        for merit in experiment.merits
        for entrant in experiment.policies
        if len(list(entrant.points())) > 1
        for point in entrant.points()
        for task in validation_tasks(experiment, entrant, point, merit, checksum)
    ]


def _tests(experiment: Experiment, checksum: str, rows: Rows) -> list[Task]:
    return [
        task
        for merit in experiment.merits
        for entrant in experiment.policies
        for task in test_tasks(
            experiment,
            entrant,
            _chosen(experiment, entrant, merit, checksum, rows)[0],
            merit,
            checksum,
        )
    ]


def rows_used(
    found: Outcome, rows: Rows, directory: str | None = None
) -> tuple[set[str], set[str]]:
    """Return the keys of the rows that an outcome is made of: those that tuned, and the tests."""
    shown = found.experiment._replace(merits=tuple(panel.merit for panel in found.panels))
    checksum = problems.dataset(shown.problem, directory).checksum
    tests = _tests(shown, checksum, rows)
    return {task.key for task in _tuning(shown, checksum)}, {task.key for task in tests}


def outcome(experiment: Experiment, rows: Rows, directory: str | None = None) -> Outcome:
    """Return the panels of an experiment whose runs are all there."""
    data = problems.dataset(experiment.problem, directory)
    checksum = data.checksum
    if getattr(data, "synthetic", False):
        experiment = experiment._replace(title=f"{experiment.title}: a synthetic log")
    part = problems.part(experiment.problem, "test", experiment.seed, directory)
    panels = []
    for merit in experiment.merits:
        try:
            curves = [_curve(experiment, e, merit, checksum, rows) for e in experiment.policies]
        except KeyError:  # a run is missing
            continue
        settles = problems.settles(experiment.problem, experiment.seed, merit, directory)
        panels.append(Panel(merit, part.arm_means(), part.fair(merit), tuple(curves), settles))
    return Outcome(experiment, tuple(panels))


def _add_missing(name: str, tasks: Sequence[Task], rows: Rows, player: Player) -> None:
    """Play the tasks that have no row yet, and keep each row at once."""
    missing = list({task.key: task for task in tasks if task.key not in rows}.values())
    if not missing:
        return
    with Progress(name, len(missing), sum(task.rounds for task in missing)) as progress:
        for done in player(missing, progress.add_rounds):
            rows.add(*(row for _, row in done))
            progress.add_runs(len(done))
    rows.gather()


def _chosen(
    experiment: Experiment, entrant: Entrant, merit: Merit, checksum: str, rows: Rows
) -> tuple[dict[str, Any], tuple[Tried, ...]]:
    """Return the point that is best by the notion that tunes the policy, the first on ties."""
    points = list(entrant.points())
    if len(points) == 1:
        return points[0], ()
    tried = []
    for point in points:
        tasks = validation_tasks(experiment, entrant, point, merit, checksum)
        finals = _finals(entrant.tuned_by, [rows[task.key] for task in tasks])
        tried.append(Tried(point, float(finals.mean()), float(standard_deviation(finals))))
    best = min(range(len(points)), key=lambda i: tried[i].mean)
    return points[best], tuple(tried)


def _finals(notion: str, found: Sequence[Row]) -> Vector:
    """Return the final fairness regrets, or how unfair runs were a round by another notion."""
    result = _result(found)
    return result.fairness_regret[:, -1] if notion == "merit" else unfairness(notion, result)


def _curve(
    experiment: Experiment, entrant: Entrant, merit: Merit, checksum: str, rows: Rows
) -> Curve:
    point, tried = _chosen(experiment, entrant, merit, checksum, rows)
    tasks = test_tasks(experiment, entrant, point, merit, checksum)
    results = [
        _result([rows[task.key] for task in tasks if task.rounds == rounds])
        for rounds in experiment.rounds
    ]
    policy = built(entrant.described(point, merit))
    return Curve(
        entrant.label, policy, point, tried, tuple(results), entrant.notion, entrant.tuned_by
    )


def _result(found: Sequence[Row]) -> Result:
    marks = np.array(found[0]["checkpoints"])

    def column(name: str) -> Any:  # rows of before 0.2 lack some: what is not known is not a number
        unknown = np.full(marks.size, np.nan)
        return np.array([row[name] if len(row[name]) else unknown for row in found])

    return Result(
        rounds=marks,
        fairness_regret=column("fairness_regret"),
        reward_regret=column("reward_regret"),
        exposure=column("exposure"),
        pulls=column("pulls"),
        best_arm_regret=column("best_arm_regret"),
        reward_earned=column("reward_earned"),
        exposure_curves=None,  # a sweep of thousands of runs fits into memory
        measures=measured_by_name(column("measured"), marks.size),
        runs=np.array([row["run"] for row in found]),
        provenance=_provenance(found[0]),
    )


def _provenance(row: Row) -> Provenance:
    settings = json.loads(row["settings"])
    problem = json.dumps([settings["problem"], row["part"], row["checksum"]], sort_keys=True)
    judge, code = row["merit"], settings.get("code", "")
    policy = f"{row['policy']} #{code}" if code else row["policy"]
    return Provenance(policy, problem, judge, row["seed"], row["rounds"], row["version"])
