"""Measure how close the optimistic step comes to the best there is.

python benchmarks/solvers.py [--states 5] [--boxes 200] [--starts 8] [--only box|ellipsoid]
"""

from __future__ import annotations

import argparse

from box_quality import run_box
from ellipsoid_quality import run_ellipsoid


def main() -> None:
    """Measure both solvers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--states", type=int, default=5, help="ellipsoids per setting")
    parser.add_argument("--boxes", type=int, default=200, help="boxes per merit and width")
    parser.add_argument("--starts", type=int, default=8, help="starts of SLSQP")
    parser.add_argument("--only", choices=("box", "ellipsoid"), help="measure one")
    options = parser.parse_args()
    if options.only != "ellipsoid":
        run_box(options.boxes)
    if options.only != "box":
        run_ellipsoid(options.states, options.starts)


if __name__ == "__main__":
    main()
