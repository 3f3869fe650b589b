"""Off-policy evaluation: what another policy would have brought, and whom it would have shown."""

from .evaluating import Evaluation, evaluate
from .evaluating_slates import evaluate_slates
from .logged import Logged
from .reading import from_table
from .reading_slates import slates_of
from .sequences import Looks, confidence_sequence
from .slates import LoggedSlates
from .spans import mean_rewards, split
from .support import Diagnostics

__all__ = [
    "Diagnostics",
    "Evaluation",
    "Logged",
    "LoggedSlates",
    "Looks",
    "confidence_sequence",
    "evaluate",
    "evaluate_slates",
    "from_table",
    "mean_rewards",
    "slates_of",
    "split",
]
