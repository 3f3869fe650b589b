"""The decision service: HTTP in front of a store."""
