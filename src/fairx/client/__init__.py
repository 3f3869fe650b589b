"""A typed client of the decision service, with retries that are safe because of its keys."""

from .answers import (
    Action,
    Arm,
    ArmStatus,
    Choice,
    Decision,
    Experiment,
    NewToken,
    Received,
    Reward,
    Rewarded,
    Shown,
    Status,
    Token,
)
from .audits import (
    ArmRewards,
    Audit,
    Line,
    Moment,
    SampleRatio,
    Sensitivity,
    SlateAudit,
    SlateLine,
)
from .awaiting import AsyncClient, AsyncHandle
from .blocking import Client, Handle
from .errors import Conflict, ServiceError
from .slates import Placed, PlaceDecision, Slate, SlateDecision

__all__ = [
    "Action",
    "Arm",
    "ArmRewards",
    "ArmStatus",
    "AsyncClient",
    "AsyncHandle",
    "Audit",
    "Choice",
    "Client",
    "Conflict",
    "Decision",
    "Experiment",
    "Handle",
    "Line",
    "Moment",
    "NewToken",
    "PlaceDecision",
    "Placed",
    "Received",
    "Reward",
    "Rewarded",
    "SampleRatio",
    "Sensitivity",
    "ServiceError",
    "Shown",
    "Slate",
    "SlateAudit",
    "SlateDecision",
    "SlateLine",
    "Status",
    "Token",
]
