"""What the paper proves of regret, with the constants of its proofs, and what a model that does not fit costs."""

from .bounds import (
    lin_ts_fairness_bound,
    lin_ts_reward_bound,
    lin_ucb_fairness_bound,
    lin_ucb_reward_bound,
    lower_bound,
    ts_fairness_bound,
    ts_reward_bound,
    ucb_fairness_bound,
    ucb_reward_bound,
)
from .misspecification import misspecification_regret, self_selected_fit

__all__ = [
    "lin_ts_fairness_bound",
    "lin_ts_reward_bound",
    "lin_ucb_fairness_bound",
    "lin_ucb_reward_bound",
    "lower_bound",
    "misspecification_regret",
    "self_selected_fit",
    "ts_fairness_bound",
    "ts_reward_bound",
    "ucb_fairness_bound",
    "ucb_reward_bound",
]
