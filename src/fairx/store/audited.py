"""Which decisions an audit counts: said once, for the log that it reads and the dashboard."""

from __future__ import annotations

from .settings import Settings

SHOWN_IN_TIME = "EXISTS (SELECT 1 FROM shown s WHERE s.decision = d.id AND s.late = 0)"


def audited(settings: Settings) -> str:
    """Return the condition, in SQL, on a row `m` of `matured` and its decision `d`.

    Examples
    --------
    >>> from fairx import Uniform
    >>> audited(Settings(Uniform()))
    '1 = 1'
    """
    if not settings.requires_shown:
        return "1 = 1"
    return f"(m.rewards > 0 OR {SHOWN_IN_TIME})"
