"""The version, where everybody can read it."""

__version__ = "0.1.0"
