"""Where tasks are played: on this machine, or on a Dask cluster. The rows are the same."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol

from .tasks import Row, Task, play


class Player(Protocol):
    """Plays tasks, in any order."""

    def __call__(
        self, tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        """Yield tasks with their rows as they are finished, one or several; tell the rounds played."""
        ...


def local_player(jobs: int, directory: str | None = None) -> Player:
    """Play `jobs` tasks at a time on this machine, in threads: the loops need no lock."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        stopped = threading.Event()

        def tell(rounds: int) -> None:
            if stopped.is_set():
                raise Stopped
            progress(rounds)

        with ThreadPoolExecutor(jobs) as pool:
            futures = {pool.submit(play, task, directory, tell): task for task in tasks}
            try:
                for future in as_completed(futures):
                    yield [(futures[future], _row(futures[future], future.result))]
            finally:  # on Ctrl-C, an error, or when nobody wants the rest
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)

    return played


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
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
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
                    yield [(task, row)]
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
