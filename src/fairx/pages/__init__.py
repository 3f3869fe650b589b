"""Pages that ask the network for nothing: their template, style and numbers."""

from .page import number, resource, template

__all__ = ["number", "resource", "template"]
