"""What holds for all tests."""

from __future__ import annotations

import signal

# A shell has what it starts in the background ignore interruptions, and children inherit that:
# the tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
