"""Lines of the Yahoo log with one thing wrong, counted as what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_yahoo import LINE, parsed


@pytest.mark.parametrize(
    ("field", "text", "kind"),
    [
        (0, "12x", "skipped: no event"),
        (1, "999", "skipped: displayed article not in its pool"),
        (1, "abc", "skipped: displayed article not in its pool"),
        (2, "2", "skipped: click that is neither 0 nor 1"),
        (2, "x", "skipped: click that is neither 0 nor 1"),
        (2, "", "skipped: no event"),
    ],
)
def test_one_field_is_wrong(tmp_path: Path, field: int, text: str, kind: str) -> None:
    head, bar, rest = LINE.partition("|")
    fields = head.split()
    fields[field] = text
    log = parsed(tmp_path, LINE + " ".join(fields) + " " + bar + rest + LINE)
    assert log.counts == {"lines": 3, "events": 2, kind: 1}
