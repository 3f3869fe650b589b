"""A bar that shows how far long work has come: on a terminal, and in a notebook."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any


def bar(**options: Any) -> Any:
    """Return a bar of tqdm: a widget in a notebook that has widgets, or else text."""
    from tqdm import tqdm

    # Without ipywidgets tqdm's own notebook bar would warn, and fail.
    if is_notebook() and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm as widget

        return widget(**options)
    return tqdm(file=sys.stderr, **options)


def is_notebook() -> bool:
    """Tell whether this is a cell of a notebook: one whose shell has a kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def is_watched() -> bool:
    """Tell whether somebody sees a bar that moves."""
    return is_notebook() or sys.stderr.isatty()
