"""Experiments from TOML files, checked to the last value before any work is done."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from fairx import rules
from fairx.merit import Merit

from .entrants import PART, entrants, own_notions
from .names import choice, known, merged, table, tables, text
from .notions import notions_given
from .problem import Problem
from .specification import FIGURES, Experiment, built

SCALES = ("smoke", "quick", "paper")
SCALED = ("rounds", "tuning_rounds", "runs", "validation_runs")
KEYS = (
    "name", "title", "figure", "extends", "problem", "merits", "policies", "more_policies",
    "changes", *SCALED, "seed", "scales", "parts", "chapter", "text", "compare", "notions",
)  # fmt: skip
OURS = resources.files("fairx.experiments")


def figures() -> list[str]:
    """Return the names of the paper's experiments.

    Examples
    --------
    >>> figures()[:3]
    ['fig1', 'fig2', 'fig3']
    """
    return sorted(_names("paper"))


def beyond() -> list[str]:
    """Return the names of the experiments that the paper does not have.

    Examples
    --------
    >>> beyond()
    ['exploration', 'fair-bandits', 'misspecification', 'slates', 'tight-intervals']
    """
    return sorted(_names("beyond"))


def _names(folder: str) -> Iterator[str]:
    for entry in (OURS / folder).iterdir():
        if entry.name.endswith(".toml"):
            yield entry.name.removesuffix(".toml")


def read(source: str | Path, scale: str = "paper") -> list[Experiment]:
    """Return the experiments of a TOML file, or of one of the package's by its name.

    Examples
    --------
    >>> (experiment,) = read("fig2", scale="quick")
    >>> experiment.merits, [entrant.label for entrant in experiment.policies][:2]
    ((Exponential(steepness=10.0),), ['UCB', 'TS'])
    """
    choice("scale", scale, SCALES)
    content = _content(source)
    try:
        found = [_experiment(part, scale) for part in _parts(content)]
        if len({experiment.name for experiment in found}) < len(found):
            raise ValueError("the parts must have names of their own")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{source}: {error}") from error
    return found


def _content(source: str | Path, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the tables of a file, those of the one it extends beneath."""
    if str(source) in seen:
        raise ValueError(f"{source} extends itself, by way of {' and '.join(seen)}")
    path = Path(source)
    text = path.read_text("utf-8") if path.suffix == ".toml" else _of_the_package(str(source))
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not TOML: {error}") from error
    known(str(source), content, KEYS)
    content.setdefault("name", path.stem)
    return _extended(content, path, (*seen, str(source)))


def _extended(content: dict[str, Any], path: Path, seen: tuple[str, ...]) -> dict[str, Any]:
    if "extends" not in content:
        return content
    name = text("extends", content.pop("extends"))
    base = _content(path.parent / name if name.endswith(".toml") else name, seen)
    return merged(base, content)


def _of_the_package(name: str) -> str:
    choice("experiment", name, [*figures(), *beyond()])
    folder = "paper" if name in figures() else "beyond"
    return (OURS / folder / f"{name}.toml").read_text("utf-8")


def _parts(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one table for each part: a figure may show several problems."""
    if "parts" not in content:
        yield content
        return
    for part in tables("parts", content.pop("parts")):
        known("a part", part, KEYS)
        name = text("the name of a part", part.get("name"))
        yield merged(content, {**part, "name": f"{content['name']}-{name}", PART: name})


def _experiment(content: dict[str, Any], scale: str) -> Experiment:
    scales = table("scales", content.get("scales", {}))
    known("scales", scales, SCALES)
    chosen = table(f"scales.{scale}", scales.get(scale, {}))
    known(f"scales.{scale}", chosen, SCALED)
    content = {**content, **chosen}
    missing = [key for key in ("merits", "policies", "rounds") if key not in content]
    if missing:
        raise ValueError(f"an experiment needs {', '.join(missing)}")
    problem = table("problem", content.get("problem", {}))
    known("problem", problem, Problem._fields)
    if {"data", "means"} <= problem.keys():
        raise ValueError(
            "a problem must have data or means, not both: one may be in what is extended"
        )
    policies, rounds = entrants(content), _horizons(content["rounds"])
    return Experiment(
        name=_file_name(content["name"]),
        title=str(content.get("title", content["name"])),
        figure=choice("figure", content.get("figure", "regret"), FIGURES),
        problem=Problem(**problem),
        merits=_merits(tables("merits", content["merits"])),
        policies=policies,
        rounds=rounds,
        tuning_rounds=_tuning_horizon(content.get("tuning_rounds", rounds[-1]), rounds[-1], scale),
        runs=rules.count("runs", content.get("runs", 10)),
        validation_runs=rules.count("validation_runs", content.get("validation_runs", 10)),
        seed=rules.count("seed", content.get("seed", 0), low=0),
        scale=scale,
        chapter=str(content.get("chapter", "")),
        text=str(content.get("text", "")),
        notions=notions_given(content.get("notions", []), own_notions(policies)),
        compare=_compared(content, [entrant.label for entrant in policies]),
    )


def _compared(content: Mapping[str, Any], labels: list[str]) -> str:
    """Return the label that others are compared with, or nothing."""
    return choice("compare", content["compare"], labels) if "compare" in content else ""


def _file_name(name: Any) -> str:
    """Return the name of an experiment: its figures are files of that name."""
    if not re.fullmatch(r"[\w-][\w .-]*", text("name", name)):
        raise ValueError(f"name must be letters, digits, spaces, dots and dashes, not {name!r}")
    return str(name)


def _merits(found: list[Mapping[str, Any]]) -> tuple[Merit, ...]:
    merits = tuple(built(merit) for merit in found)
    for i, merit in enumerate(merits):
        if not hasattr(merit, "log"):
            raise ValueError(f"each of the merits must be a merit, not {merit!r}")
        if merit in merits[:i]:
            raise ValueError(f"each of the merits must be there once, but {merit!r} is there twice")
    return merits


def _horizons(rounds: Any) -> tuple[int, ...]:
    found = [rules.count("rounds", n) for n in (rounds if isinstance(rounds, list) else [rounds])]
    if found != sorted(set(found)):
        raise ValueError(f"rounds must increase, not {found}")
    return tuple(found)


def _tuning_horizon(rounds: Any, longest: int, scale: str) -> int:
    found = rules.count("tuning_rounds", rounds)
    if found > longest:
        raise ValueError(
            f"tuning_rounds must be at most the rounds of the test, {longest}, not {found}: "
            f"set both for a scale, here {scale}"
        )
    return found
