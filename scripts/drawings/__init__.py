"""The pictures of the documentation, drawn from seeded runs."""
