"""The exposure audit: who got less exposure than their merit earns, and how sure that is."""

from .audit import audit
from .result import Arm, Audit, Beside, Course, Line, Moment, SampleRatio, Sensitivity

__all__ = [
    "Arm",
    "Audit",
    "Beside",
    "Course",
    "Line",
    "Moment",
    "SampleRatio",
    "Sensitivity",
    "audit",
]
