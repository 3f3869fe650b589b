"""The exposure audit: who got less exposure than their merit earns, and how sure that is."""

from .audit import audit
from .comparing import Change, changes
from .result import Arm, Audit, Beside, Course, Line, Moment, SampleRatio, Sensitivity

__all__ = [
    "Arm",
    "Audit",
    "Beside",
    "Change",
    "Course",
    "Line",
    "Moment",
    "SampleRatio",
    "Sensitivity",
    "audit",
    "changes",
]
