"""The audit of pages with several places: exposure by weight."""

from .audit import audit_slates
from .result import SlateAudit, SlateLine

__all__ = ["SlateAudit", "SlateLine", "audit_slates"]
