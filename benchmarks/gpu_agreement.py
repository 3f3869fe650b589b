"""Whether a GPU makes the processor's choices: all policies side by side on both, each run by each.

Choices are alike where an arm has the same pulls at the end, and what was earned is the same at each of twenty checkpoints.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from gpu_board import Board, Played

from fairx import simulate
from fairx.compiled.gpu import capability, compile_together
from fairx.compiled.gpu.kernels import compile_and_keep
from fairx.simulation.fleets import fleet_of
from fairx.simulation.measures import measures_of
from fairx.simulation.on_gpu import played_on_gpu
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import checkpoint_rounds, cores

SEED, CHECKPOINTS = 1, 20
Fleet = Sequence[OneRun]


@functools.cache
def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Return policies with their worlds and judges."""
    import gpu

    return gpu.cases()


def on_processor(name: str, rounds: int, run: int) -> Played:
    """Play one run, in a process of the pool."""
    settings: Any = {"rounds": rounds, "runs": [run], "seed": SEED, "checkpoints": CHECKPOINTS}
    found = simulate(*cases()[name], **settings, jobs=1, progress=lambda _: None)
    return Played(found.pulls[0], found.reward_earned[0], found.fairness_regret[0])


def fleets(lengths: dict[str, int], runs: int) -> dict[str, list[OneRun]]:
    """Return the runs of each case for a GPU."""
    found = {}
    for name, rounds in lengths.items():
        records = *cases()[name], measures_of({})
        marks = checkpoint_rounds(CHECKPOINTS, rounds)
        found[name] = [OneRun(records, 0, marks, SEED, run) for run in range(runs)]
    return found


def compiled(waiting: dict[str, list[OneRun]], board: Board) -> None:
    """Compile all kernels together, and leave out what cannot be compiled."""
    wanted = {}
    for name, runs in list(waiting.items()):
        with left_out(name, waiting, board):
            wanted[name] = fleet_of(runs[:2]).wanted(capability())
    compile_together(list(wanted.values()), cores())
    for name, one in wanted.items():
        if one.is_kept and not one.file.exists():
            with left_out(name, waiting, board):
                compile_and_keep(one, one.file)  # again, to hear why


@contextlib.contextmanager
def left_out(name: str, waiting: dict[str, list[OneRun]], board: Board) -> Iterator[None]:
    """Let the others go on where something fails within, and list it."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is, it is listed
        waiting.pop(name, None)
        board.fail(name, "GPU", error)


def play_there(
    waiting: dict[str, list[OneRun]], board: Board, player: Callable[..., Iterator[Fleet]]
) -> None:
    """Play all cases side by side; where that fails, those that are left one after the other."""
    compiled(waiting, board)
    try:
        take(waiting, list(waiting), board, player)
    except Exception as error:  # noqa: BLE001 - which of them it was is heard below
        print(f"not side by side: {type(error).__name__}: {error}", flush=True)
        for name in list(waiting):
            with left_out(name, waiting, board):
                take(waiting, [name], board, player)


def take(
    waiting: dict[str, list[OneRun]], names: Sequence[str], board: Board,
    player: Callable[..., Iterator[Fleet]],
) -> None:  # fmt: skip
    """Play these cases, and take each off the list when it is done."""
    owners = {id(run): name for name in names for run in waiting[name]}
    for fleet in player([run for name in names for run in waiting[name]], lambda _: None):
        for run in fleet:
            name, curves = owners[id(run)], run.tally.curves
            board.note(name, "GPU", run.run, Played(run.tally.pulls, curves[3], curves[0]))
            waiting.pop(name, None)


def noted(name: str, run: int, board: Board, future: Future[Played]) -> None:
    """Take in a run of the processor."""
    error = future.exception()
    if error is None:
        board.note(name, "processor", run, future.result())
    else:
        board.fail(name, "processor", error)


def agree(lengths: dict[str, int], runs: int) -> Board:
    """Play all cases on both at once, and return how far they agree."""
    board, waiting = Board(lengths, runs), fleets(lengths, runs)
    spawn = multiprocessing.get_context("spawn")  # a process with a GPU must not be forked
    with ProcessPoolExecutor(cores(), mp_context=spawn) as pool:
        for run in range(runs):  # the first of each compiles for all
            for name, rounds in lengths.items():
                future = pool.submit(on_processor, name, rounds, run)
                future.add_done_callback(functools.partial(noted, name, run, board))
        play_there(waiting, board, played_on_gpu)
    return board


def main(arguments: Sequence[str]) -> None:
    """Compare what the command line says."""
    parser = argparse.ArgumentParser(prog="gpu.py agree")
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--cap", action="append", default=[], metavar="WORD=ROUNDS")
    parser.add_argument("--table", type=Path, help="a file for the table")
    asked = parser.parse_args(arguments)
    lengths = {name: asked.rounds for name in cases() if asked.only in name}
    for word, _, most in (cap.partition("=") for cap in asked.cap):
        lengths |= {name: min(lengths[name], int(most)) for name in lengths if word in name}
    board = agree(lengths, asked.runs)
    print(f"\n{board.table()}", flush=True)
    if asked.table:
        asked.table.write_text(f"{board.table()}\n")
