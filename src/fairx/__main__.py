"""`python -m fairx` is `fairx`."""

import sys

from fairx.command import main

if __name__ == "__main__":
    sys.exit(main())
