"""Tune on the validation part, and play what was chosen on the test part (Section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairx.merit import Merit, check_conditions
from fairx.policies.base import inner_form

from . import problems
from .execution import Player
from .flow import Flow
from .outcome import Curve, Outcome, Panel
from .parts import LoggedPart, Part
from .progress import Progress
from .rows import Rows
from .specification import Entrant, Experiment, built
from .tasks import Task
from .tuning import Entered, entered, result_of


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
    """Tune and test some experiments, playing whatever is not in `rows` yet, and keep each row at once.

    A policy is tested as soon as it is tuned, while others may still be. Each experiment comes with the
    checksum that `check` returned.
    """
    flow = Flow([one for each in planned for one in entered(*each)], rows)
    tasks = flow.first()
    if not tasks:
        return
    names = ", ".join(experiment.name for experiment, _ in planned)
    with Progress(names, flow.runs, flow.rounds) as progress:
        while tasks:  # again, for a player that takes no more than it is given at first
            tasks = _played(tasks, flow, player, progress)
    rows.gather()


def _played(tasks: list[Task], flow: Flow, player: Player, progress: Progress) -> list[Task]:
    """Play tasks, adding those that can be played meanwhile; return those of them that were not."""
    given = len(tasks)
    for done in player(tasks, progress.add_rounds):
        flow.rows.add(*(row for _, row in done))
        tasks += flow.after(task.key for task, _ in done)
        progress.expect(flow.runs, flow.rounds)
        progress.add_runs(len(done))
    return [task for task in tasks[given:] if task.key not in flow.rows]


def rows_used(
    found: Outcome, rows: Rows, directory: str | None = None
) -> tuple[set[str], set[str]]:
    """Return the keys of the rows that an outcome is made of: those that tuned, and the tests."""
    shown = found.experiment._replace(merits=tuple(panel.merit for panel in found.panels))
    checksum = problems.dataset(shown.problem, directory).checksum
    each = list(entered(shown, checksum))
    tuning = {task.key for one in each for task in one.tuning()}
    return tuning, {task.key for one in each for task in one.tests(rows)}


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
            curves = [curve_of(experiment, e, merit, checksum, rows) for e in experiment.policies]
        except KeyError:  # a run is missing
            continue
        settles = problems.settles(experiment.problem, experiment.seed, merit, directory)
        panels.append(Panel(merit, part.arm_means(), part.fair(merit), tuple(curves), settles))
    return Outcome(experiment, tuple(panels))


def curve_of(
    experiment: Experiment, entrant: Entrant, merit: Merit, checksum: str, rows: Rows
) -> Curve:
    """Return one policy of an experiment, whose runs must all be there."""
    one = Entered(experiment, entrant, merit, checksum)
    point, tried = one.chosen(rows)
    tasks = one.tests_of(point)
    results = [
        result_of([rows[task.key] for task in tasks if task.rounds == rounds])
        for rounds in experiment.rounds
    ]
    policy = built(entrant.described(point, merit))
    return Curve(
        entrant.label, policy, point, tried, tuple(results), entrant.notion, entrant.tuned_by
    )
