"""The claims that the published runs leave undecided, with 1,000 fresh ones, which a GPU plays.

    python benchmarks/thousand_runs.py play FOLDER figA2 figA4         # needs a GPU
    python benchmarks/thousand_runs.py judge FOLDER figA2 figA4        # here, or there

Figures are read as `fairx reproduce` reads them, with the settings that tuning chose (docs/reproduction/tables.csv), and of each only
what its undecided claims need. The published runs come first, for a check; `--fresh` others are judged, once, at 95 %,
by the claims' own code. A folder keeps what is done, kind by kind: what is interrupted is played again.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairx import Exponential
from fairx.experiments import Rows, local_player, play_missing, problems, read
from fairx.experiments.execution import Player
from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.experiments.running import curve_of
from fairx.experiments.specification import Entrant, Experiment
from fairx.experiments.tasks import Row, Task
from fairx.pages import number
from fairx.plots.figure import merit_title
from fairx.report.claims import NOT_RUN, STATEMENTS, UNDECIDED
from fairx.report.claims.claim import Finding, Missing, Statement
from fairx.report.claims.evidence import LINEAR, MAB, gathered
from fairx.report.tables import setting_words
from fairx.simulation.bands import ALPHA
from fairx.simulation.runs import cores

PUBLISHED = Path(__file__).parents[1] / "docs" / "reproduction"
AGAIN = ("FairX-UCB (gradient) has the best reward regret of the FairX algorithms.",)  # was narrow
BY_MARK = ("checkpoints", "fairness_regret", "reward_regret", "best_arm_regret", "reward_earned")
BY_RUN = (*BY_MARK[1:], "exposure", "pulls", "runs")


class Needed(NamedTuple):
    """What the undecided claims of a figure need of it."""

    labels: tuple[str, ...]
    steepness: tuple[float, ...]


NEEDED = {
    "fig1": Needed(("UCB",), (4,)),
    "fig2": Needed((*MAB.fair, MAB.ours), (10,)),
    "figA1": Needed(MAB.fair, (6, 12)),
    "figA2": Needed(MAB.fair, (6, 12)),
    "figA4": Needed(LINEAR.fair, (1, 3)),
}


def published(figure: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the published lines of a figure at its longest horizon, by merit and policy."""
    with (PUBLISHED / "tables.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["experiment"] == figure]
    return {(line["merit"], line["policy"]): line for line in lines}


def experiments_of(figure: str, options: argparse.Namespace) -> list[Experiment]:
    """Return what is played of a figure, one experiment for each merit: settings are its own."""
    (whole,) = read(figure, options.scale)
    lines, found = published(figure), []
    for merit in map(Exponential, NEEDED[figure].steepness):
        policies = tuple(
            _fixed(entrant, lines[merit_title(merit), entrant.label]["settings"])
            for entrant in _entrants(whole, options)
        )
        runs = runs_published(figure) + options.fresh
        found.append(whole._replace(merits=(merit,), policies=policies, runs=runs))
    return found


def runs_published(figure: str) -> int:
    """Return how many runs of a figure were looked at before: fresh ones have numbers from there on."""
    return max(int(line["runs"]) for line in published(figure).values())


def _entrants(whole: Experiment, options: argparse.Namespace) -> list[Entrant]:
    wanted = set(NEEDED[whole.name].labels) & set(options.policies or NEEDED[whole.name].labels)
    return [entrant for entrant in whole.policies if entrant.label in wanted]


def _fixed(entrant: Entrant, words: str) -> Entrant:
    """Return a policy with the one point of its grid that these words tell."""
    (point,) = (point for point in entrant.points() if setting_words(point) == words)
    return entrant._replace(grid={name: (value,) for name, value in point.items()})


def play(options: argparse.Namespace) -> None:
    """Play all runs that are not in the folder yet, those of all figures side by side."""
    found = [one for figure in options.figures for one in experiments_of(figure, options)]
    planned = [(one, problems.dataset(one.problem, options.data).checksum) for one in found]
    play_missing(planned, Rows(options.folder), _thin(_player(options)))


def _player(options: argparse.Namespace) -> Player:
    if options.device == "cpu":
        return local_player(cores(), options.data)
    from fairx.experiments.gpu import gpu_player

    return gpu_player(options.data)


def _thin(player: Player) -> Player:
    """Keep the ends of curves alone: whole rows of 1,000 runs are more than comes back from some machines."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        begun = time.perf_counter()
        for done in player(tasks, progress):
            if len(done) > 1:  # a GPU's
                took, kind = time.perf_counter() - begun, json.loads(done[0][0].policy)["kind"]
                print(f"{len(done):,} runs of {kind} after {took:.0f} s", flush=True)
            yield [(task, row | {name: row[name][-1:] for name in BY_MARK}) for task, row in done]

    return played


def judge(options: argparse.Namespace) -> None:
    """Print whether the published runs came out again, and what the fresh ones say."""
    rows = Rows(options.folder)
    curves = {figure: list(_curves(figure, rows, options)) for figure in options.figures}
    for figure, found in curves.items():
        for one, curve in found:
            _check(one, curve, published(figure)[merit_title(one.merits[0]), curve.label])
    outcomes = {figure: _fresh(figure, found) for figure, found in curves.items()}
    for statement in _undecided(outcomes):
        try:
            finding = statement.judge(*(gathered(group, outcomes) for group in statement.needs))
        except Missing as missing:
            print(f"{NOT_RUN}: {statement.sentence} {missing}")
        else:
            _tell(statement, finding)


def _tell(statement: Statement, finding: Finding) -> None:
    interval = finding.estimate.at(ALPHA)
    value, low, high = map(number, interval)
    verdict = statement.rule.verdict(interval)
    print(f"{verdict}: {statement.sentence} ({statement.rule}) {value} [{low} to {high}]")
    print(f"    {finding.estimate.runs:,} fresh runs; {finding.note}")


def _curves(
    figure: str, rows: Rows, options: argparse.Namespace
) -> Iterator[tuple[Experiment, Curve]]:
    for one in experiments_of(figure, options):
        checksum = problems.dataset(one.problem, options.data).checksum
        for entrant in one.policies:
            yield one, curve_of(one, entrant, one.merits[0], checksum, rows)


def _check(one: Experiment, curve: Curve, line: Mapping[str, str]) -> None:
    """Print how far the mean of the published runs is from what was published."""
    mean = float(curve.result.fairness_regret[: int(line["runs"]), -1].mean())
    there = float(line["fairness_mean"])
    words = f"{one.name}, {line['merit']}, {curve.label} ({line['settings']})"
    if one.rounds[-1] == int(line["rounds"]):
        print(f"{words}: {mean!r}, published {there!r}, apart by {abs(mean / there - 1):.1e}")


def _fresh(figure: str, found: Sequence[tuple[Experiment, Curve]]) -> Outcome:
    """Return the runs that were not published; claims about regrets ask for no more of a panel."""
    panels = []
    for merit in dict.fromkeys(one.merits[0] for one, _ in found):
        curves = tuple(
            _from(curve, runs_published(figure)) for one, curve in found if one.merits[0] == merit
        )
        panels.append(Panel(merit, np.empty(0), np.empty(0), curves))
    return Outcome(found[0][0], tuple(panels))


def _from(curve: Curve, first: int) -> Curve:
    """Return a curve without its first runs."""
    results = [
        result._replace(**{name: getattr(result, name)[first:] for name in BY_RUN})
        for result in curve.results
    ]
    return curve._replace(results=tuple(results))


def _undecided(outcomes: Mapping[str, Outcome]) -> list[Statement]:
    """Return the statements that the published runs leave undecided, of which these figures are shown."""
    claims: list[Any] = json.loads((PUBLISHED / "claims.json").read_text("utf-8"))
    open_ones = {one["claim"] for one in claims if one["verdict"] == UNDECIDED}
    return [
        one
        for one in STATEMENTS
        if one.sentence in open_ones.union(AGAIN) and _is_shown(one, outcomes)
    ]


def _is_shown(statement: Statement, outcomes: Mapping[str, Outcome]) -> bool:
    """Tell whether all figures are there that show it and of which anything is needed."""
    return all(name in outcomes for name in statement.figures if name in NEEDED)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("play", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("figures", nargs="+", choices=tuple(NEEDED))
    parser.add_argument("--fresh", type=int, default=1000, help="runs beside the published ones")
    parser.add_argument("--policies", nargs="+", help="play these alone, by their labels")
    parser.add_argument("--scale", choices=("smoke", "quick", "paper"), default="paper")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--data", help="where mediamill.npz is, instead of FAIRX_DATA")
    options = parser.parse_args()
    {"play": play, "judge": judge}[options.what](options)


if __name__ == "__main__":
    main()
