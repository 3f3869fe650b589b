"""Claims that no figure here can show, listed with the reason (Sections 4.1 and 5.5)."""

from __future__ import annotations

from functools import partial

from .claim import Finding, Missing, Rule, Statement

LOGS = (
    "it is about the real logs of the Yahoo! Today Module, which are licensed: nobody here has them"
)
THEOREM = (
    "it is a theorem about every algorithm and no figure plays it; tests/test_theory.py holds the linear "
    "FairX algorithms against it on both pairs of instances"
)


def _never(reason: str) -> Finding:
    raise Missing(reason)


def _unplayed(sentence: str, where: str, statistic: str, reason: str) -> Statement:
    return Statement(sentence, where, statistic, Rule(), (), partial(_never, reason))


STATEMENTS = [
    _unplayed(
        "All FairX algorithms perform comparably on the Yahoo! data, and their reward regret "
        "converges quickly.",
        "Section 5.5, Figure 4",
        "to be decided on the real logs",
        LOGS,
    ),
    _unplayed(
        "All FairX algorithms are robust on the Yahoo! data, although its rewards change over time.",
        "Section 5.5, Figure 4",
        "to be decided on the real logs",
        LOGS,
    ),
    _unplayed(
        "All FairX algorithms control fairness on all days of the Yahoo! data, with low reward regret.",
        "Appendix, Figure A5",
        "to be decided on the real logs",
        LOGS,
    ),
    _unplayed(
        "The lower bounds apply to linear bandits too, with a basis vector for each arm.",
        "Section 4.1",
        "expected fairness regret over 0.015 T, the greater of the two instances of a pair",
        THEOREM,
    ),
]
