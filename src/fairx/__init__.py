"""Bandits that give each arm the exposure its merit deserves."""

from . import datasets, environments, theory
from .bandit import Bandit, Decision
from .errors import BrokenFile, FairxError, RewardGiven, UnknownArm, UnknownDecision
from .exposure import fair_probabilities
from .merit import Affine, Custom, Exponential, Logistic, PiecewiseLinear, Power
from .policies import (
    EG,
    TS,
    UCB,
    Ascent,
    Confidence,
    Exact,
    FairXEG,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    FairXUCB,
    Gradient,
    LinEG,
    LinTS,
    LinUCB,
    OptimalFair,
    Uniform,
)
from .result import Result, Summary
from .simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "EG",
    "TS",
    "UCB",
    "Affine",
    "Ascent",
    "Bandit",
    "BrokenFile",
    "Confidence",
    "Custom",
    "Decision",
    "Exact",
    "Exponential",
    "FairXEG",
    "FairXLinEG",
    "FairXLinTS",
    "FairXLinUCB",
    "FairXTS",
    "FairXUCB",
    "FairxError",
    "Gradient",
    "LinEG",
    "LinTS",
    "LinUCB",
    "Logistic",
    "OptimalFair",
    "PiecewiseLinear",
    "Power",
    "Result",
    "RewardGiven",
    "Summary",
    "Uniform",
    "UnknownArm",
    "UnknownDecision",
    "datasets",
    "environments",
    "fair_probabilities",
    "simulate",
    "theory",
]
