"""What changes if settings are tuned for as long as they are played, as Markdown for docs/reproduction.md.

    fairx reproduce fig3 figA3 figA6 --tuning-rounds 2000000 --device cuda    # a quarter of an hour on an H200
    python benchmarks/tuned_longer.py results/paper-tuned-2000000 [BESIDE]    # by default the published report

A report holds all that this reads: `tables.csv` and `claims.json`. Where the same settings are chosen, the runs that test are the same ones.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairx.pages import number
from fairx.report.claims import NOT_RUN

PUBLISHED = Path(__file__).parents[1] / "docs" / "reproduction"
REPEATED = {"fig2": "figA1", "fig3": "figA3"}  # a panel of the other one

Line = dict[str, str]


def lines_of(folder: Path) -> dict[tuple[str, str, str], Line]:
    """Return the final regrets by figure, merit and policy; of two figures with one panel, once."""
    with (folder / "tables.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    shown = {(line["experiment"], line["merit"]) for line in lines}
    return {
        (line["experiment"], line["merit"], line["policy"]): line
        for line in lines
        if (REPEATED.get(line["experiment"]), line["merit"]) not in shown
    }


def settings_table(beside: Path, folder: Path) -> Iterator[str]:
    """Yield the lines of a table of chosen settings and final regrets, then how many settings are others."""
    before, now = lines_of(beside), lines_of(folder)
    keys = [key for key in now if key in before]
    if any(before[key]["rounds"] != now[key]["rounds"] for key in keys):
        raise SystemExit(f"{folder} and {beside} must be of one scale")
    yield "| figure | policy | settings before | tuned longer | fairness regret before | tuned longer | change |"
    yield "| --- | --- | --- | --- | ---: | ---: | ---: |"
    for key in keys:
        yield _settings_line(key, before[key], now[key])
    others = sum(before[key]["settings"] != now[key]["settings"] for key in keys)
    yield f"\n{others} of {len(keys)} have other settings."


def _settings_line(key: tuple[str, str, str], old: Line, new: Line) -> str:
    figure, merit, policy = key
    chosen = "the same" if old["settings"] == new["settings"] else new["settings"]
    change = float(new["fairness_mean"]) / float(old["fairness_mean"]) - 1
    percent = f"{change:+.1%}".replace("-", "\N{MINUS SIGN}").replace("%", " %")
    regrets = " | ".join(f"{_mean(line)}" for line in (old, new))
    return (
        f"| `{figure}`, {merit} | {policy} | {old['settings']} | {chosen} | {regrets} | {percent} |"
    )


def _mean(line: Line) -> str:
    """Return the mean fairness regret with its standard error."""
    error = float(line["fairness_std"]) / int(line["runs"]) ** 0.5
    return f"{number(float(line['fairness_mean']))} ± {number(error)}"


def claims_table(beside: Path, folder: Path) -> Iterator[str]:
    """Yield the lines of a table of all claims that were run in both, those with another verdict in bold."""
    before, now = ({one["claim"]: one for one in _claims(each)} for each in (beside, folder))
    keys = [key for key in now if key in before]
    yield "| claim | rule | before | tuned longer |"
    yield "| --- | --- | --- | --- |"
    for key in keys:
        changed = before[key]["verdict"] != now[key]["verdict"]
        told = f"**{_told(now[key])}**" if changed else _told(now[key])
        yield f"| {key} | {now[key]['rule']} | {_told(before[key])} | {told} |"
    changes = sum(before[key]["verdict"] != now[key]["verdict"] for key in keys)
    yield f"\n{changes} of {len(keys)} have another verdict."


def _claims(folder: Path) -> list[Any]:
    found: list[Any] = json.loads((folder / "claims.json").read_text("utf-8"))
    return [one for one in found if one["verdict"] != NOT_RUN]


def _told(claim: Any) -> str:
    ends = [claim[name] for name in ("value", "low", "high")]
    if None in ends:  # so few runs have no interval
        return str(claim["verdict"])
    value, low, high = map(number, ends)
    return f"{claim['verdict']}: {value} [{low} to {high}]"


def told(folder: Path, beside: Path) -> str:
    """Return both tables."""
    tables = [settings_table(beside, folder), claims_table(beside, folder)]
    return "".join("\n".join([*lines, "", ""]) for lines in tables)


def main(folder: str, beside: str | Path = PUBLISHED) -> None:
    """Print both tables."""
    print(told(Path(folder), Path(beside)), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
