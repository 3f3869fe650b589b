"""Where tasks are played: on this machine, or on a Dask cluster. The rows are the same."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol, TypeVar

from .tasks import Row, Task, play

T = TypeVar("T")
R = TypeVar("R")


class Player(Protocol):
    """Plays tasks, in any order."""

    def __call__(
        self, tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[tuple[Task, Row]]:
        """Yield each task with its row as it is finished; tell the rounds played."""
        ...


def local_player(jobs: int, directory: str | None = None) -> Player:
    """Play `jobs` tasks at a time on this machine, in threads: the loops need no lock."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[tuple[Task, Row]]:
        def one(task: Task, tell: Callable[[int], None]) -> Row:
            return _row(task, lambda: play(task, directory, tell))

        return played_together(tasks, one, progress, jobs)

    return played


def played_together(
    things: Sequence[T], play: Callable[[T, Callable[[int], None]], R],
    progress: Callable[[int], None], jobs: int,
) -> Iterator[tuple[T, R]]:  # fmt: skip
    """Play things in threads, `jobs` at a time, and yield each with what came out, as it is finished."""
    stopped = threading.Event()

    def tell(rounds: int) -> None:
        if stopped.is_set():
            raise Stopped
        progress(rounds)

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(play, thing, tell): thing for thing in things}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:  # on Ctrl-C, an error, or when nobody wants the rest
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


def cluster_player(address: str, directory: str | None = None) -> Player:
    """Play on the Dask cluster whose scheduler is at `address`.

    What a worker has not finished when it dies is played by another one.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError("--cluster needs Dask: pip install 'fairx[cluster]'") from error

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[tuple[Task, Row]]:
        try:
            client = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answers at {address} ({error}): start one with `dask scheduler`"
            ) from error
        with client:
            futures = {
                client.submit(play, task, directory, key=f"fairx-{task.key}", pure=True): task
                for task in tasks
            }
            try:
                for future in distributed.as_completed(list(futures), loop=client.loop):
                    task = futures.pop(future)
                    row = _row(task, future.result)
                    progress(task.rounds)
                    yield task, row
            finally:
                client.cancel(list(futures))

    return played


class Stopped(Exception):
    """Nobody wants the rest of a run."""


def _row(task: Task, result: Callable[[], Any]) -> Row:
    """Return the row of a task, or say which one failed."""
    try:
        row: Row = result()
    except (OSError, ImportError):  # the machine's doing, and said well already
        raise
    except Exception as error:
        error.add_note(f"in run {task.run} of {task.policy} on {task.problem.data}")
        raise
    return row
