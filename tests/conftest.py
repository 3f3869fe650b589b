"""What holds for all tests: the suites share `cases` and `oracles`, and can be interrupted."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# A shell has what it starts in the background ignore interruptions, and children inherit that:
# the tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
