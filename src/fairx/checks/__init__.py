"""Properties that every policy, merit and environment must have: run them on your own.

Each check raises an AssertionError that names the property; none needs a test framework.

Examples
--------
>>> from fairx import Exponential, FairXTS
>>> check_policy(FairXTS(Exponential(4), prior_std=1, reward_std=0.5))
>>> check_merit(Exponential(4), low=0, high=1)
"""

from .environments import ENVIRONMENT_CHECKS, check_environment
from .merits import MERIT_CHECKS, check_merit
from .policies import POLICY_CHECKS, check_policy

__all__ = [
    "ENVIRONMENT_CHECKS",
    "MERIT_CHECKS",
    "POLICY_CHECKS",
    "check_environment",
    "check_merit",
    "check_policy",
]
