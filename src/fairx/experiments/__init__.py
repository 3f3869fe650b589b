"""Experiments: from a TOML file to rows on disk, tuned, resumed and on any number of machines."""

from .execution import Player, cluster_player, local_player
from .folder import opened
from .outcome import Curve, Outcome, Panel, Tried
from .problem import Problem
from .reading import beyond, figures, read
from .rows import Rows
from .running import check, conduct, outcome, play_missing, rows_used
from .specification import Entrant, Experiment
from .tasks import Task, play

__all__ = [
    "Curve",
    "Entrant",
    "Experiment",
    "Outcome",
    "Panel",
    "Player",
    "Problem",
    "Rows",
    "Task",
    "Tried",
    "beyond",
    "check",
    "cluster_player",
    "conduct",
    "figures",
    "local_player",
    "opened",
    "outcome",
    "play",
    "play_missing",
    "read",
    "rows_used",
]
