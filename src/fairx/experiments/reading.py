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

from .names import choice, known, table, tables, text
from .specification import FIGURES, Entrant, Experiment, Problem, built

SCALES = ("smoke", "quick", "paper")
SCALED = ("rounds", "tuning_rounds", "runs", "validation_runs")
KEYS = (
    "name", "title", "figure", "extends", "problem", "merits", "policies", "more_policies",
    *SCALED, "seed", "scales", "parts",
)  # fmt: skip
LARGEST_GRID = 10_000
PAPER = resources.files("fairx.experiments") / "paper"


def figures() -> list[str]:
    """Return the names of the paper's experiments.

    Examples
    --------
    >>> figures()[:3]
    ['fig1', 'fig2', 'fig3']
    """
    return sorted(entry.name.removesuffix(".toml") for entry in PAPER.iterdir() if _is_toml(entry))


def read(source: str | Path, scale: str = "paper") -> list[Experiment]:
    """Return the experiments of a TOML file, or of one of the paper's figures by its name.

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
    text = path.read_text("utf-8") if path.suffix == ".toml" else _of_the_paper(str(source))
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
    return _merged(base, content)


def _merged(base: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return `content` on top of `base`: tables are merged, all else is replaced."""
    both = {
        key: _merged(base[key], value) if isinstance(value, Mapping) and key in base else value
        for key, value in content.items()
    }
    return {**base, **both}


def _of_the_paper(name: str) -> str:
    return (PAPER / f"{choice('experiment', name, figures())}.toml").read_text("utf-8")


def _is_toml(entry: Any) -> bool:
    return bool(entry.name.endswith(".toml"))


def _parts(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one table for each part: a figure may show several problems."""
    if "parts" not in content:
        yield content
        return
    for part in tables("parts", content.pop("parts")):
        known("a part", part, KEYS)
        name = text("the name of a part", part.get("name"))
        yield _merged(content, {**part, "name": f"{content['name']}-{name}"})


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
    rounds = _horizons(content["rounds"])
    return Experiment(
        name=_file_name(content["name"]),
        title=str(content.get("title", content["name"])),
        figure=choice("figure", content.get("figure", "regret"), FIGURES),
        problem=Problem(**problem),
        merits=_merits(tables("merits", content["merits"])),
        policies=_entrants(content),
        rounds=rounds,
        tuning_rounds=_tuning_horizon(content.get("tuning_rounds", rounds[-1]), rounds[-1], scale),
        runs=rules.count("runs", content.get("runs", 10)),
        validation_runs=rules.count("validation_runs", content.get("validation_runs", 10)),
        seed=rules.count("seed", content.get("seed", 0), low=0),
        scale=scale,
    )


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


def _entrants(content: Mapping[str, Any]) -> tuple[Entrant, ...]:
    found = [_entrant(one) for one in tables("policies", content["policies"])]
    if "more_policies" in content:
        found += [_entrant(one) for one in tables("more_policies", content["more_policies"])]
    labels = [entrant.label for entrant in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"label {label!r} must belong to one policy only: write label = ...")
    return tuple(found)


def _entrant(content: Mapping[str, Any]) -> Entrant:
    fixed = dict(content)
    if "kind" not in fixed:
        raise ValueError(f"each of the policies needs a kind, but one has {', '.join(fixed)}")
    kind = str(fixed.pop("kind"))
    label = str(fixed.pop("label", kind.partition(":")[2] or kind))
    grid = table(f"the grid of {label}", fixed.pop("grid", {}))
    for name, value in fixed.items():
        if isinstance(value, Mapping) and "kind" not in value:
            hint = rules.nearest(name, ["grid"], "a table must have a kind")
            raise ValueError(f"{label} has no table {name!r}{hint}")
    for name in grid:
        if name in fixed:
            raise ValueError(f"{label} must have {name} in its grid or beside it, not both")
    entrant = Entrant(label, kind, fixed, {name: _values(label, name, grid[name]) for name in grid})
    count = 1
    for values in entrant.grid.values():
        count *= len(values)
    if count > LARGEST_GRID:
        raise ValueError(
            f"the grid of {label} must have at most {LARGEST_GRID} points, not {count}"
        )
    return entrant


def _values(label: str, name: str, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list) or not values:
        raise ValueError(f"the grid of {label} must list values of {name}, not {values!r}")
    if any(value in values[:i] for i, value in enumerate(values)):
        raise ValueError(f"the grid of {label} must list each {name} once, not {values!r}")
    return tuple(values)
