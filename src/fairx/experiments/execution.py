"""Where tasks are played: on this machine, or on a Dask cluster. The rows are the same."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, Protocol

from .tasks import Row, Task, play

Done = tuple[Task, Callable[[], Any]]  # a task, and what returns its row, or raises what went wrong


class Player(Protocol):
    """Plays tasks, in any order."""

    def __call__(
        self, tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        """Yield tasks with their rows as they are finished, one or several; tell the rounds played.

        While what was yielded is kept, tasks may be added at the end: a policy that was tuned can be tested.
        A player that does not look for them is called again, with those.
        """
        ...


def local_player(jobs: int, directory: str | None = None) -> Player:
    """Play `jobs` tasks at a time on this machine, in threads: the loops need no lock."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        stopped, finished = threading.Event(), SimpleQueue[Done]()

        def tell(rounds: int) -> None:
            if stopped.is_set():
                raise Stopped
            progress(rounds)

        with ThreadPoolExecutor(jobs) as pool:

            def send(task: Task) -> None:
                future = pool.submit(play, task, directory, tell)
                future.add_done_callback(lambda done: finished.put((task, done.result)))

            try:
                yield from _each(tasks, send, finished.get)
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
        with _client(distributed, address) as client:
            futures, finished = {}, distributed.as_completed(loop=client.loop)

            def send(task: Task) -> None:
                key = f"fairx-{task.key}"
                future = client.submit(play, task, directory, key=key, pure=True)
                futures[future] = task
                finished.add(future)

            def arrived() -> Done:
                future = next(finished)
                return futures.pop(future), future.result

            try:
                for done in _each(tasks, send, arrived):
                    progress(sum(task.rounds for task, _ in done))
                    yield done
            finally:
                client.cancel(list(futures))

    return played


def _client(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address} ({error}): start one with `dask scheduler`"
        ) from error


def _each(
    tasks: Sequence[Task], send: Callable[[Task], None], arrived: Callable[[], Done]
) -> Iterator[Sequence[tuple[Task, Row]]]:
    """Send all tasks, also those that are added meanwhile, and yield each when its row is there."""
    sent = done = 0
    while done < len(tasks):
        for task in tasks[sent:]:
            send(task)
        sent = len(tasks)
        task, result = arrived()
        done += 1
        yield [(task, _row(task, result))]


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
