"""Bandits that give each arm the exposure its merit deserves."""

import typing as _typing

from . import datasets, environments, theory
from .bandit import Bandit, Decision, SlateDecision
from .errors import BrokenFile, FairxError, RewardGiven, UnknownArm, UnknownDecision
from .evaluation import Evaluation, Logged, evaluate
from .exposure import fair_probabilities
from .merit import Affine, Custom, Exponential, Logistic, PiecewiseLinear, Power
from .moved import keep_old_names as _keep_old_names
from .policies import (
    EG,
    TS,
    UCB,
    Ascent,
    BetaTS,
    Confidence,
    Discounted,
    DiscountedRidge,
    Exact,
    FairXBetaTS,
    FairXEG,
    FairXGammaTS,
    FairXGradient,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXLogisticTS,
    FairXLogisticUCB,
    FairXTS,
    FairXUCB,
    Floor,
    GammaTS,
    Gradient,
    Groups,
    LinEG,
    LinTS,
    LinUCB,
    OptimalFair,
    Uniform,
    Windowed,
)
from .replay import UniformLog, replay
from .simulation import Comparison, Provenance, Result, Round, Summary, compare, simulate
from .slates import Slate, fair_exposure
from .version import __version__ as __version__

_keep_old_names()

if _typing.TYPE_CHECKING:
    from .auditing import audit

__all__ = [
    "EG",
    "TS",
    "UCB",
    "Affine",
    "Ascent",
    "Bandit",
    "BetaTS",
    "BrokenFile",
    "Comparison",
    "Confidence",
    "Custom",
    "Decision",
    "Discounted",
    "DiscountedRidge",
    "Evaluation",
    "Exact",
    "Exponential",
    "FairXBetaTS",
    "FairXEG",
    "FairXGammaTS",
    "FairXGradient",
    "FairXLinEG",
    "FairXLinTS",
    "FairXLinUCB",
    "FairXLogisticTS",
    "FairXLogisticUCB",
    "FairXTS",
    "FairXUCB",
    "FairxError",
    "Floor",
    "GammaTS",
    "Gradient",
    "Groups",
    "LinEG",
    "LinTS",
    "LinUCB",
    "Logged",
    "Logistic",
    "OptimalFair",
    "PiecewiseLinear",
    "Power",
    "Provenance",
    "Result",
    "RewardGiven",
    "Round",
    "Slate",
    "SlateDecision",
    "Summary",
    "Uniform",
    "UniformLog",
    "UnknownArm",
    "UnknownDecision",
    "Windowed",
    "audit",
    "compare",
    "datasets",
    "environments",
    "evaluate",
    "fair_exposure",
    "fair_probabilities",
    "replay",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> _typing.Any:
    """Import the audit when it is asked for: it needs the extra `logs`."""
    if name != "audit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .auditing import audit

    return audit
