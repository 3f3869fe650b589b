"""What the report of experiments and the page of an audit share."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup


def template(package: str, **filters: Callable[[Any], str]) -> jinja2.Template:
    """Return the template page.html of a package, which has our `style` and writes by `number`."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": number, **filters}
    environment.globals["style"] = Markup(resource(__package__, "style.css"))
    return environment.from_string(resource(package, "page.html"))


def resource(package: str, name: str) -> str:
    """Return the text of a file that lies in a package."""
    return resources.files(package).joinpath(name).read_text("utf-8")


def number(value: float) -> str:
    """Return a number as a page shows it: whole from 100 on, else three digits that count.

    Examples
    --------
    >>> number(12345.6), number(0.01234)
    ('12,346', '0.0123')
    """
    words = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return words.replace("-", "\N{MINUS SIGN}")
