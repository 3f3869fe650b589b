"""Markdown of "Fair bandits, compared", from what a report wrote: tables by notion, and what each gives up."""

from __future__ import annotations

from typing import Any

Found = dict[str, Any]  # notions.json: by experiment


def worlds(found: Found) -> str:
    """Return what was played, a line for each world."""
    lines = ["| world | | policies | rounds | runs |", "| --- | --- | ---: | ---: | ---: |"]
    for name, one in found.items():
        count = len(one["prices"])
        lines.append(
            f"| {short(name)} | {one['text']} | {count} | {one['rounds']:,} | {one['runs']} |"
        )
    return "\n".join([*lines, "", ""])


def in_short(found: Found) -> str:
    """Return who is the fairest by each notion in each world, of equals the one that gives up least."""
    listed = list(dict.fromkeys(name for one in found.values() for name in one["notions"]))
    lines = [
        f"| by | {' | '.join(short(name) for name in found)} |",
        f"| --- |{' --- |' * len(found)}",
    ]
    lines += [
        f"| {notion} | {' | '.join(_fairest(one, notion) for one in found.values())} |"
        for notion in listed
    ]
    return "\n".join([*lines, "", ""])


def _fairest(one: dict[str, Any], notion: str) -> str:
    lines = list(_lines(one, notion).values())
    if not lines:
        return ""
    best = min(lines, key=lambda line: (round(line["unfair"][0], 4), line["given_up"][0]))
    if notion == "reward":
        return f"{best['policy']}: {best['unfair'][0]:.4f}"
    return f"{best['policy']}: {best['unfair'][0]:.4f}, gives up {best['given_up'][0]:.3f}"


def by_notion(found: Found) -> str:
    """Return a table for each notion, a column for each world that shows it; its own policies first."""
    listed = {name: said for one in found.values() for name, said in one["notions"].items()}
    return "\n".join(
        part for notion, said in listed.items() for part in _table(found, notion, said)
    )


def _table(found: Found, notion: str, said: str) -> list[str]:
    columns = {name: lines for name, one in found.items() if (lines := _lines(one, notion))}
    listed = dict.fromkeys(label for lines in columns.values() for label in lines)
    order = sorted(listed, key=lambda label: _place(columns, label))
    head = f"| policy | {' | '.join(short(name) for name in columns)} |"
    rows = [
        f"| {_named(columns, label)} | {' | '.join(_cell(lines.get(label)) for lines in columns.values())} |"
        for label in order
    ]
    title = notion[0].upper() + notion[1:]
    return [f"### {title}", "", f"{said[0].upper() + said[1:]}.", "", head,
            f"| --- |{' ---: |' * len(columns)}", *rows, ""]  # fmt: skip


def _lines(one: dict[str, Any], notion: str) -> dict[str, Any]:
    """Return the lines of a notion by policy."""
    tables = [table["lines"] for table in one["tables"] if table["notion"] == notion]
    return {line["policy"]: line for line in (tables[0] if tables else [])}


def _place(columns: dict[str, Any], label: str) -> tuple[bool, float]:
    """Return where a policy stands: its own notion first, then by the first world that has it."""
    line = next(lines[label] for lines in columns.values() if label in lines)
    return not line["own"], line["unfair"][0]


def _named(columns: dict[str, Any], label: str) -> str:
    own = any(lines[label]["own"] for lines in columns.values() if label in lines)
    return f"**{label}**" if own else label


def _cell(line: dict[str, Any] | None) -> str:
    """Return a mean with half its interval; a dagger for those on the frontier."""
    if line is None:
        return ""
    value, low, high = line["unfair"]
    return f"{value:.4f} ± {(high - low) / 2:.4f}{' †' if line['unbeaten'] else ''}"


def by_world(found: Found) -> str:
    """Return for each world its picture and what each policy gives up."""
    parts = []
    for name, one in found.items():
        about = f"{one['title']}: reward given up a round against how unfair a policy is, by notion"
        parts += [
            f"### {one['title']}",
            "",
            one["text"],
            "",
            f"![{about}](fair-bandits/{name}.svg)",
            "",
        ]
        parts += [f"- **{price['policy']}** {price['words']}." for price in one["prices"]]
        parts.append("")
    return "\n".join(parts)


def chosen(found: Found) -> str:
    """Return what was chosen for whom in each world, by which notion; at an edge, in italics."""
    names = list(found)
    lines = [f"| policy | tuned by | {' | '.join(short(name) for name in names)} |",
             f"| --- | --- |{' --- |' * len(names)}"]  # fmt: skip
    by_policy: dict[str, dict[str, Any]] = {}
    for name, one in found.items():
        for price in one["prices"]:
            by_policy.setdefault(price["policy"], {})[name] = price
    for label, prices in by_policy.items():
        if any(price["settings"] for price in prices.values()):
            tuned = next(iter(prices.values()))["tuned_by"]
            cells = (_settings(prices.get(name)) for name in names)
            lines.append(f"| {label} | {tuned} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def _settings(price: dict[str, Any] | None) -> str:
    if price is None:
        return ""
    return f"*{price['settings']}*" if price["edges"] else str(price["settings"])


def short(name: str) -> str:
    """Return the name of a world."""
    return name.removeprefix("fair-bandits-")
