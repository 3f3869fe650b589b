"""Numbers that are the same on every machine: elementary functions, sums, random numbers."""
