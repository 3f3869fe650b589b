"""The audit of pages with several places: exposure by weight."""

from .audit import SlateAudit, SlateLine, audit_slates

__all__ = ["SlateAudit", "SlateLine", "audit_slates"]
