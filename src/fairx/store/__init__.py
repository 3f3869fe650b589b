"""The durable record of a service: an event log, its fold, and who may do what."""

from .opening import Store, located
from .verified import Verified
from .verifying import Archive, verify

__all__ = ["Archive", "Store", "Verified", "located", "verify"]
