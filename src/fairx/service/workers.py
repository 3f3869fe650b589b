"""Several processes at one address: one listens, each answers, and one that dies is replaced."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from typing import Any

LOGGER = logging.getLogger("fairx")
LOOK_EVERY = 0.2  # seconds
PAUSE = 1.0  # seconds before a process that died is replaced
STOPPED_IN = 15.0  # seconds


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that processes can share; what waits in it outlives each of them."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(f"cannot serve on {host}:{port}: {error.strerror}") from None
    found.listen(2048)
    return found


class Workers:
    """Processes that run the same function, with the socket as their last argument."""

    def __init__(self, count: int, work: Callable[..., None], *about: Any) -> None:
        self._work, self._about, self._stopping = work, about, False
        self._running: list[SpawnProcess] = []
        self._count = count

    def run(self) -> None:
        """Keep them running until told to stop; then wait until each has ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        self._running = [self._started() for _ in range(self._count)]
        while not self._stopping:
            time.sleep(LOOK_EVERY)
            self._replace()
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.join(STOPPED_IN)
        LOGGER.info("stopped")

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _started(self) -> SpawnProcess:
        about = (self._work, *self._about)
        process = multiprocessing.get_context("spawn").Process(target=_worked, args=about)
        process.start()
        return process

    def _replace(self) -> None:
        for place, process in enumerate(self._running):
            if process.exitcode is not None and not self._stopping:
                LOGGER.warning("a worker ended", extra={"exitcode": process.exitcode})
                time.sleep(PAUSE)
                self._running[place] = self._started()


def _worked(work: Callable[..., None], *about: Any) -> None:
    """Work in this process, for as long as the one that started it is there."""
    threading.Thread(target=_follow, name="fairx follower", daemon=True).start()
    work(*about)


def _follow() -> None:
    """Stop when who started us was killed: left alone, we would keep its address for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
