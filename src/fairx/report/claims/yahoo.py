"""How the FairX algorithms compare on the Yahoo! logs: Section 5.5, Figures 4 and A5."""

from __future__ import annotations

from .claim import Finding, Missing, Statement

REASON = (
    "it is about the real logs of the Yahoo! Today Module, which are licensed: nobody here has them"
)


def _not_yet() -> Finding:
    raise Missing(REASON)


STATEMENTS = [
    Statement(
        "All FairX algorithms perform comparably on the Yahoo! data, and their reward regret "
        "converges quickly.",
        "Section 5.5, Figure 4",
        "to be decided on the real logs",
        (),
        _not_yet,
    ),
    Statement(
        "All FairX algorithms are robust on the Yahoo! data, although its rewards change over time.",
        "Section 5.5, Figure 4",
        "to be decided on the real logs",
        (),
        _not_yet,
    ),
    Statement(
        "All FairX algorithms control fairness on all days of the Yahoo! data, with low reward regret.",
        "Appendix, Figure A5",
        "to be decided on the real logs",
        (),
        _not_yet,
    ),
]
