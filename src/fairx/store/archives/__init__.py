"""Retention: what is old moves from the store to files of Parquet, and is still read, verified, erased."""
