"""What `fairx reproduce` and `fairx run` play: all that is missing, or more until claims are decided."""

# ruff: noqa: T201 - this prints for the user

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any


def played(
    options: argparse.Namespace, experiments: Sequence[Any], plans: Any, rows: Any
) -> tuple[dict[str, Any], Any]:
    """Return the outcomes, and the claims where runs are added until these are decided."""
    from fairx.experiments import outcome, play_missing
    from fairx.report import decide

    player = _player(options)

    def play(some: Sequence[Any]) -> None:
        planned = [(one, plans[one.name]) for one in some if plans[one.name] is not None]
        parts = [(part._replace(runs=one.runs), checksum) for one, (part, checksum) in planned]
        play_missing(parts, rows, player)

    def one_played(experiment: Any) -> Any:
        play([experiment])
        return outcome(experiment, rows, options.data)

    if options.device == "cuda":  # which has room for all of them together
        play(experiments)
    if options.decide:
        return decide(experiments, options.decide, one_played, _tell)
    return {one.name: one_played(one) for one in experiments}, None


def _tell(look: int, runs: dict[str, int], found: Sequence[Any]) -> None:
    """Print where the claims stand after a look."""
    from fairx.report.claims import LOOKS

    each = ", ".join(f"{name} {count}" for name, count in runs.items())
    verdicts = Counter(claim.verdict for claim in found)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"look {look} of {LOOKS} ({each} runs): {counts}")


def used(outcomes: dict[str, Any], rows: Any, directory: str | None) -> dict[str, dict[str, Any]]:
    """Return the keys of the rows that each outcome is made of: those that tune, and the tests."""
    from fairx.experiments import rows_used

    found = {name: rows_used(one, rows, directory) for name, one in outcomes.items()}
    return {name: dict(zip(("tune", "test"), keys, strict=True)) for name, keys in found.items()}


def counts(keys: dict[str, dict[str, Any]], rows: Any) -> dict[str, int]:
    """Return how many runs there are, and how many of them the report is made of."""
    tune, tests = (
        set().union(*(each[kind] for each in keys.values())) for kind in ("tune", "test")
    )
    return {"all": len(rows), "tune": len(tune), "tests": len(tests)}


def digests(keys: dict[str, dict[str, Any]], rows: Any) -> dict[str, dict[str, Any]]:
    """Return how many rows each outcome is made of, and their digests."""
    return {
        name: {kind: {"runs": len(k), "sha256": rows.digest(k)} for kind, k in kinds.items()}
        for name, kinds in keys.items()
    }


def plan(experiment: Any, options: argparse.Namespace) -> tuple[Any, str] | None:
    """Return what is to be played of an experiment, and the checksum of its data, once checked."""
    from fairx.experiments import check

    if options.report_only:
        return None
    part = chosen(experiment, options)
    checksum = check(part, options.data)
    if options.device == "cuda":
        from fairx.experiments.gpu import check_for_gpu

        check_for_gpu(part, options.data)
    return part, checksum


def _player(options: argparse.Namespace) -> Any:
    from fairx.experiments import cluster_player, local_player

    if options.device == "cuda":
        from fairx.experiments.gpu import gpu_player

        if options.cluster:
            raise ValueError(
                "--device cuda must be given without --cluster: the GPU is on this machine"
            )
        return gpu_player(options.data)
    if options.cluster:
        return cluster_player(options.cluster, options.data)
    return local_player(options.jobs, options.data)


def chosen(experiment: Any, options: argparse.Namespace) -> Any:
    """Return the experiment with some of its merits only; all where nothing is played."""
    steepness = options.steepness
    if not steepness or options.report_only:
        return experiment
    merits = experiment.merits
    there = {merit.steepness: merit for merit in merits if hasattr(merit, "steepness")}
    for one in steepness:
        if one not in there:
            rule = f"one of {', '.join(f'{c:g}' for c in there) or 'none'} for {experiment.name}"
            raise ValueError(f"--steepness must be {rule}, not {one:g}")
    return experiment._replace(merits=tuple(there[one] for one in steepness))


def tuned_for(experiment: Any, rounds: int | None) -> Any:
    """Return the experiment with its settings chosen by runs of so many rounds, if a number is given."""
    if rounds is None:
        return experiment
    name, longest = experiment.name, experiment.rounds[-1]
    if not any(len(list(entrant.points())) > 1 for entrant in experiment.policies):
        raise ValueError(f"--tuning-rounds must be left out for {name}: nothing of it is tuned")
    if rounds > longest:
        rule = f"at most {longest}, the rounds that {name} is played for at this scale"
        raise ValueError(f"--tuning-rounds must be {rule}, not {rounds}")
    return experiment._replace(tuning_rounds=rounds)
