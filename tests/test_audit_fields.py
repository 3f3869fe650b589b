"""Every field of an audit, and of its files, against loops over the rows of small random logs."""

from __future__ import annotations

import inspect
from typing import Any

import audit_facts as facts
import numpy as np
import pandas as pd
import pseudo_oracle
import pytest
from audit_oracle import Row, Setting

from fairx import Affine, Exponential, Power
from fairx.auditing import Audit, audit
from fairx.auditing.speaking import WEAKLY

NAMES = ("ann", "bob", "=cyd()", "<dee>", "eve")
MEANS = (0.1, 0.4, 0.5, 0.7, 0.9)
# What is logged: all, propensities, candidates alone, or as little as can be.
COLUMNS = {
    "whole": ("decision", "time", "candidates", "probabilities", "reward_time"),
    "both": ("decision", "candidates", "probabilities", "propensity"),
    "propensities": ("decision", "time", "candidates", "propensity"),
    "no candidates": ("decision", "time", "propensity"),
    "candidates": ("decision", "candidates", "time", "reward_time"),
    "least": (),
}
JUDGED: tuple[dict[str, Any], ...] = (
    {"merit": Exponential(3)},
    {"merit": Power(2, 0.3), "floor": 0.1, "groups": {"ann": "a", "bob": "b", "eve": "a"}},
    {"merit": Affine(1, 2), "reward_range": (-1.0, 2.0), "alpha": 0.3, "late": 2.0},
    {
        "merit": Exponential(20),
        "floor": 0.19,
        "alpha": 0.5,
        "late": 3.0,
        "groups": dict(zip(NAMES, "abbca", strict=True)),
    },
)
SIZES = (12, 60, 120, 40)
RANGE = "reward_range" if "reward_range" in inspect.signature(audit).parameters else "rewards"


def made(seed: int, decisions: int, columns: tuple[str, ...]) -> list[Row]:
    """Return rows of changing candidates, unfair ones; rewards go missing, always those of eve."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(decisions):
        pool = rng.permutation(5)[: rng.integers(2, 6)].tolist()
        chances = rng.dirichlet(0.3 + np.arange(len(pool)))
        at = int(rng.choice(len(pool), p=chances))
        missing = rng.random() < 0.2 or (seed % 2 and NAMES[pool[at]] == "eve")
        reward = None if missing else float(rng.random() < MEANS[pool[at]])
        whole = {
            "decision": i,
            "time": float(rng.integers(0, 30)),
            "candidates": [NAMES[arm] for arm in pool],
            "probabilities": chances.tolist(),
            "propensity": float(chances[at]),
            "arm": NAMES[pool[at]],
            "reward": reward,
        }
        whole["reward_time"] = None if reward is None else whole["time"] + float(rng.integers(0, 6))
        rows.append({key: whole[key] for key in (*columns, "arm", "reward")})
    return rows


def with_problems(rows: list[Row]) -> list[Row]:
    """Return the rows with others in between that take no part: a repetition, a stranger."""
    extra = [] if "decision" not in rows[0] else [rows[0] | {"reward": 1.0}]
    if "candidates" in rows[0] and "decision" in rows[0]:
        extra += [
            rows[1] | {"arm": "zoe", "decision": -1},
            rows[2] | {"arm": "zoe", "decision": -2},
        ]
    return [rows[0], *extra[:1], *rows[1:], *extra[1:]]


def problems_of(rows: list[Row]) -> dict[str, int]:
    if "decision" not in rows[0]:
        return {}
    if "candidates" not in rows[0]:
        return {"duplicate decision": 1}
    return {"duplicate decision": 1, "arm not among its candidates": 2}


def judged(setting: Setting, rows: list[Row]) -> Audit:
    return audit(
        pd.DataFrame(rows).astype({"reward": float}),
        setting.merit,
        floor=setting.floor,
        groups=setting.groups,
        alpha=setting.alpha,
        late=setting.late,
        **{RANGE: setting.reward_range},  # type: ignore[arg-type]
    )


def agree(found: Any, expected: Row) -> None:
    """Compare all fields: numbers to 1e-9, all else exactly."""
    assert set(found._fields) == set(expected)
    for name, value in expected.items():
        close = pytest.approx(value, rel=1e-8, abs=1e-9) if isinstance(value, float) else value
        assert getattr(found, name) == close, (name, found)


@pytest.fixture(
    scope="module",
    params=[(seed, kind, how) for seed, how in enumerate(range(len(JUDGED))) for kind in COLUMNS],
    ids=str,
)
def case(request: pytest.FixtureRequest) -> tuple[Setting, Audit]:
    seed, kind, how = request.param
    rows = made(seed, SIZES[how], COLUMNS[kind])
    setting = Setting(rows, **JUDGED[how])
    return setting, judged(setting, with_problems(rows) if seed % 2 else rows)


Case = tuple[Setting, Audit]


def test_lines(case: Case) -> None:
    setting, found = case
    for ours, theirs, besides in (
        (found.lines, facts.lines(setting), found.beside),
        (found.groups, facts.groups(setting, found.judged_by == WEAKLY), found.groups_beside),
    ):
        for i, (one, expected) in enumerate(zip(ours, theirs, strict=True)):
            by_box = one.judged_by == "box"
            agree(one, expected | (boxed(expected) if by_box else by(found, besides[i])))


def boxed(line: Row) -> Row:
    """Return what the box says of a line."""
    fair, shown = line["fair_share"], line["exposure"]
    about = line["ratio_low"] >= 0.9 and line["ratio_high"] <= 1 / 0.9
    least = line["exposure_low"]
    return {
        "judged_by": "box",
        "verdict": "fair" if about and line["box"] == "unclear" else line["box"],
        "shown_below": line["fair_low"] / fair * (shown / line["exposure_high"]) if shown else None,
        "shown_above": line["fair_high"] / fair * (shown / least) if least else None,
    }


def by(found: Audit, one: Any) -> Row:
    """Return what pseudo-rewards say of a line."""
    about = (one.beside_low or 0) >= 0.9 and (one.beside_high or 9) <= 1 / 0.9
    return {
        "judged_by": found.judged_by,
        "verdict": "fair" if about and one.accused == "unclear" else one.accused,
        "shown_below": one.beside / one.beside_high if one.beside and one.beside_high else None,
        "shown_above": one.beside / one.beside_low if one.beside and one.beside_low else None,
    }


def test_pseudo_rewards(case: Case) -> None:
    """Every field by loops, with all probabilities, and with those of the arms shown alone."""
    setting, found = case
    weakly = setting.has("propensity") and isinstance(setting.merit, Exponential)
    speaks = "pseudo-rewards of the arms shown" if weakly else "box"
    assert found.judged_by == ("pseudo-rewards" if setting.has("probabilities") else speaks)
    arms = [(arm, [arm]) for arm in setting.arms()]
    if setting.has("probabilities"):
        groups = [(line.arm, setting.members()[line.arm]) for line in found.groups]
        expected = [pseudo_oracle.beside(setting, inside) for _, inside in arms + groups]
    else:
        assert not found.groups_beside
        assert found.impossible is None
        each = (pseudo_oracle.shown_beside(setting, arm) for arm, _ in arms)
        expected = list(each) if weakly else []
    for one, other in zip(found.beside + found.groups_beside, expected, strict=True):
        for name, value in other.items():
            close = pytest.approx(value, rel=1e-6, abs=1e-9) if isinstance(value, float) else value
            assert getattr(one, name) == close, (name, one, other)


def test_arms(case: Case) -> None:
    setting, found = case
    for one, arm in zip(found.arms, setting.arms(), strict=True):
        agree(one, facts.arm_facts(setting, arm))


def test_regret_and_time(case: Case) -> None:
    setting, found = case
    regrets = facts.regrets(setting)
    each = found.distance if regrets is None else sum(regrets) / len(regrets)
    assert found.fairness_regret_per_decision == pytest.approx(each, abs=1e-9)
    known = [name for name in ("probabilities", "propensity") if setting.has(name)]
    ways = {"probabilities": "probabilities", "propensity": "propensities"}
    assert found.regret_from == (ways[known[0]] if known else "shows")
    for one, expected in zip(found.over_time, facts.over_time(setting), strict=True):
        agree(one, expected)


def test_the_whole(case: Case) -> None:
    setting, found = case
    lines, rows = facts.lines(setting), list(setting.rows)
    expected = problems_of(rows) if len(rows) < found.rows else {}
    assert found.problems == expected
    assert found.rows == len(rows) + sum(expected.values())
    assert found.decisions == len(rows)
    assert (found.merit, found.floor, found.alpha) == (
        repr(setting.merit), setting.floor, setting.alpha
    )  # fmt: skip
    assert (found.lowest_reward, found.highest_reward) == setting.reward_range
    assert not found.dated
    apart = sum(abs(one["difference"]) for one in lines)
    assert found.distance == pytest.approx(apart, abs=1e-9)
    for name, value in (
        ("exposure", found.gini_exposure),
        ("fair_share", found.gini_fair_share),
    ):
        assert value == pytest.approx(facts.gini([one[name] for one in lines]), abs=1e-9)
    for said, words in zip(found.notes, facts.notes(setting, found.rows - len(rows)), strict=True):
        assert said.startswith(words)


def test_sample_ratio_and_sensitivity(case: Case) -> None:
    setting, found = case
    expected = facts.sample_ratio(setting)
    assert found.sample_ratio.mismatched == expected["mismatched"]
    close = expected["p_value"]
    assert found.sample_ratio.p_value == (
        close if close is None else pytest.approx(close, rel=1e-6, abs=1e-12)
    )
    for one, other in zip(found.sensitivity, facts.sensitivity(setting), strict=True):
        agree(one, other)


def test_the_cases_are_of_all_kinds() -> None:
    """All verdicts and unknown intervals occur in what is compared."""
    verdicts, unknown = set(), 0
    for seed, (judging, size) in enumerate(zip(JUDGED, SIZES, strict=True)):
        rows = made(seed, size, COLUMNS["both"])
        found = judged(Setting(rows, **judging), rows)
        verdicts |= {verdict for line in found.lines for verdict in line.verdicts}
        unknown += sum(arm.delta_low is None for arm in found.arms)
    assert verdicts == {"under", "over", "unclear"}
    assert unknown > 0
