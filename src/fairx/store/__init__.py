"""The durable record of a service: an event log, its fold, and who may do what."""

from .opening import Store, located
from .verified import Verified
from .verifying import verify

__all__ = ["Store", "Verified", "located", "verify"]
