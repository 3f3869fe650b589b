"""How the FairX algorithms compare on the Yahoo! logs: Section 5.5, Figures 4 and A5."""

from __future__ import annotations

from .claim import Finding, Missing, Statement

REASON = "it needs the Yahoo! Today Module logs, which are licensed, and replay, which is to come"


def _not_yet() -> Finding:
    raise Missing(REASON)


STATEMENTS = [
    Statement(
        "All FairX algorithms perform comparably on the Yahoo! data, and their reward regret "
        "converges quickly.",
        "Section 5.5, Figure 4",
        "to be decided with replay",
        (),
        _not_yet,
    ),
    Statement(
        "All FairX algorithms are robust on the Yahoo! data, although its rewards change over time.",
        "Section 5.5, Figure 4",
        "to be decided with replay",
        (),
        _not_yet,
    ),
    Statement(
        "All FairX algorithms control fairness on all days of the Yahoo! data, with low reward regret.",
        "Appendix, Figure A5",
        "to be decided with replay",
        (),
        _not_yet,
    ),
]
