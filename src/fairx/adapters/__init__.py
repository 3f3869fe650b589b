"""Neighbours: our environments and policies where other packages expect theirs.

One module for each package, which is imported with it: `for_gymnasium`, `for_river`, `for_coba` and
`for_open_bandit`. `pip install 'fairx[adapters]'` has the first three packages; the last needs none.
"""
