"""Services that are killed under load, clients that note what was acknowledged, and a check of both.

python tests/crash_harness.py --store sqlite --kills 100
python tests/crash_harness.py --store postgresql --kills 30
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from postgres_cluster import Cluster, binaries, cluster, free_port
from stepping import set_clock

from fairx.store import located, verify
from fairx.store.arms import arms_at
from fairx.store.crash_points import NAMES
from fairx.store.database import Database
from fairx.store.identity import minted, place_id, slate_id
from fairx.store.snapshots import ServedExperiment, experiments, newest

SECRET = "the secret of the crash harness"
POLICY = {
    "merit": {"kind": "Exponential", "steepness": 3.0}, "prior_std": 1.0, "reward_std": 0.5,
}  # fmt: skip
WINDOW = 0.6  # seconds: rewards come in time and late
EXPERIMENTS: list[dict[str, Any]] = [
    {
        "name": "counts", "arms": ["a", "b", "c"], "policy": POLICY | {"kind": "FairXTS"},
        "reward_window_s": WINDOW, "requires_shown": True, "floor": 0.01,
    },
    {
        "name": "linear", "arms": ["a", "b", "c"], "policy": POLICY | {"kind": "FairXLinTS"},
        "reward_window_s": WINDOW, "dimension": 3,
    },
]  # fmt: skip
Made = tuple[str, int | None]  # a decision, and the place of a slate
# How often a point may be passed before the process dies there: some come with each request.
PASSED = dict.fromkeys(NAMES, 40) | {"mid_fold": 3, "mid_snapshot": 3, "mid_export": 1}
PATIENCE = 180.0  # seconds that a service may take to start and compile, or to reach a point


@dataclass
class Server:
    """A process of the service, on a port that it keeps."""

    store: str
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    clock: Path | None = None  # a file that sets the clock of the process
    sources: Path | None = None  # of another fairx than this

    def start(self, kill_at: str = "") -> None:
        program = ["-m", "fairx"]
        if self.clock is not None:
            set_clock(self.clock, 0.0)
            program = [str(Path(__file__).with_name("stepping.py")), str(self.clock)]
        command = [sys.executable, *program, "serve", "--store", self.store]
        command += ["--port", str(self.port), "--no-auth", "--refresh", "0.05"]
        environment = os.environ | {"FAIRX_SECRET": SECRET, "FAIRX_KILL_AT": kill_at}
        if self.sources is not None:
            environment["PYTHONPATH"] = str(self.sources)
        with (self.folder / f"log-{self.port}").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def ready(self) -> bool:
        """Wait until it answers; False where it died before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if not self.lives():
                return False
            try:
                if asked(self.port, "GET", "/readyz")[0] == 200:
                    return True
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
        raise TimeoutError(f"the service does not start: {self.folder}/log-{self.port}")

    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)


def asked(
    port: int, method: str, path: str, body: Any = None, timeout: float = 5.0
) -> tuple[int, Any]:
    """Send one request; return the status and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        content = answer.read()
        is_json = answer.getheader("content-type", "").startswith("application/json")
        return answer.status, json.loads(content) if is_json and content else content
    finally:
        connection.close()


@dataclass
class Journal:
    """What clients have asked for, and what was acknowledged to them."""

    sent: set[tuple[str, str]] = field(default_factory=set)  # experiment, key
    decisions: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)  # the first status of each decision
    rewards: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)
    arms: list[tuple[str, int, list[dict[str, str]]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def copy(self) -> Journal:
        """Return what was acknowledged up to now."""
        with self.lock:
            return Journal(
                set(self.sent), dict(self.decisions), dict(self.shown), dict(self.rewards),
                list(self.arms), Counter(self.counts),
            )  # fmt: skip

    def answered(self, experiment: str, key: str, answer: dict[str, Any]) -> None:
        """Note a decision; the same key must have got the same answer before."""
        with self.lock:
            first = self.decisions.setdefault((experiment, key), answer)
            self.counts["decisions" if first is answer else "repeated decisions"] += 1
            self.counts["slates"] += "slate" in answer
            if first != answer:
                self.violations.append(f"key {key} got {first}, then {answer}")

    def rewarded(self, reward: dict[str, Any], status: str) -> None:
        """Note a reward, with the first thing that was said of it."""
        with self.lock:
            self.counts[f"rewards {status}"] += 1
            which = (place_id(reward["decision"], reward.get("place")), reward["id"])
            self.rewards.setdefault(which, (reward["reward"], status))

    def is_full(self) -> bool:
        """Tell whether enough has happened: a run in which nothing does would prove nothing."""
        rare = (
            "slates",
            "rewards duplicate",
            "shown accepted",
            "changes of arms",
            "conflicts refused",
        )
        often = ("decisions", "rewards accepted", "rewards late")
        count = self.counts
        return all(count[each] > 3 for each in rare) and all(count[each] > 50 for each in often)

    def noted(self, decision: str, status: str) -> None:
        with self.lock:
            self.counts[f"shown {status}"] += 1
            self.shown.setdefault(decision, status)


class Client(threading.Thread):
    """Asks one thing after the other, each until it is answered."""

    def __init__(
        self, number: int, ports: Sequence[int], journal: Journal, stop: threading.Event, seed: int
    ) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.number, self.ports, self.journal, self.stopped = number, ports, journal, stop
        self.random = random.Random(f"{seed} {number}")
        self.made: list[tuple[str, str, Made]] = []  # experiment, key, and what can be rewarded
        self.newest: dict[tuple[str, int], int] = defaultdict(int)
        self.turns = self.missed = 0
        steps: list[Callable[[], None]] = [self.decide] * 8 + [self.reward] * 6
        steps += [self.again, self.again, self.conflict, self.show, self.show]
        self.steps = (
            steps + [[self.arms, self.arms], [self.export]][number] if number < 2 else steps
        )

    def run(self) -> None:
        try:
            while not self.stopped.is_set():
                self.turns += 1
                self.random.choice(self.steps)()
        except Exception as error:
            self.journal.violations.append(f"{self.name} failed: {error!r}")
            raise

    def ask(self, path: str, body: Any = None, method: str = "POST") -> tuple[int, Any, int]:
        """Ask until there is an answer, here or there."""
        while True:
            port = self.random.choice(self.ports)
            try:
                status, answer = asked(port, method, f"/v1/experiments/{path}", body)
            except (OSError, http.client.HTTPException):
                status, answer = 503, None
            if status != 503:
                if status >= 500 or status in (400, 404, 422):
                    self.journal.violations.append(f"{method} {path} {body}: {status} {answer}")
                return status, answer, port
            self.missed += 1
            self.journal.counts["not answered"] += 1
            if self.stopped.wait(0.05):
                return 503, None, port

    def request(self, experiment: str, key: str) -> dict[str, Any]:
        """Return what a key asks for, which follows from the key."""
        mind = random.Random(key)
        body: dict[str, Any] = {"key": key, "probabilities": mind.random() < 0.3}
        if experiment == "linear" or mind.random() < 0.3:
            body["candidates"] = mind.sample("abc", mind.choice([2, 3]))
        if experiment == "linear":
            body["contexts"] = [[mind.gauss(0, 1) for _ in range(3)] for _ in body["candidates"]]
        if mind.random() < 0.3:
            body["places"] = [1.0, 0.5]
        return body

    def decide(self) -> None:
        experiment = self.random.choice(["counts", "linear"])
        key = f"{self.number}-{self.turns}-{self.random.random()}"
        self.journal.sent.add((experiment, key))
        missed = self.missed
        status, answer, port = self.ask(f"{experiment}/decide", self.request(experiment, key))
        if status != 200:
            return
        self.journal.answered(experiment, key, answer)
        for placed in answer.get("slate", [{"place": None}]):
            self.made.append((experiment, key, (answer["decision"], placed["place"])))
        fresh = missed == self.missed  # else an older try may have been the first
        if fresh and answer["snapshot"] < self.newest[experiment, port]:
            self.journal.violations.append(f"{key}: the snapshot of {port} went back: {answer}")
        self.newest[experiment, port] = max(answer["snapshot"], self.newest[experiment, port])

    def again(self) -> None:
        if self.made:
            experiment, key, _ = self.random.choice(self.made)
            status, answer, _ = self.ask(f"{experiment}/decide", self.request(experiment, key))
            if status == 200:
                self.journal.answered(experiment, key, answer)

    def reward(self) -> None:
        """Reward decisions, most of them new, some for the second time."""
        recent = self.made[-5:] if self.random.random() < 0.7 else self.made
        names = {each[0] for each in recent}
        if not names:
            return
        experiment = self.random.choice(sorted(names))
        chosen = [each[2] for each in recent if each[0] == experiment]
        given = [
            event(made) | {"id": name, "reward": value_of(made, name),
                           "final": self.random.random() < 0.2}
            for made in self.random.sample(chosen, min(len(chosen), 3))
            for name in self.random.sample(["", "click", "order"], self.random.choice([1, 2]))
        ]  # fmt: skip
        status, answer, _ = self.ask(f"{experiment}/rewards", {"rewards": given})
        if status == 200:
            for each, result in zip(given, answer["results"], strict=True):
                self.journal.rewarded(each, result["status"])

    def conflict(self) -> None:
        """Contradict a reward that was acknowledged: it must be refused, and name the first."""
        experiment, _, made = self.random.choice(self.made or [("", "", ("", None))])
        known = self.journal.rewards
        name = next((n for n in ("", "click") if (place_id(*made), n) in known), None)
        if name is None:
            return
        first = value_of(made, name)
        given = [event(made) | {"id": name, "reward": first + 1}]
        status, answer, _ = self.ask(f"{experiment}/rewards", {"rewards": given})
        self.journal.counts["conflicts refused"] += status == 409
        if status == 200 or (status == 409 and repr(first) not in answer["error"]["message"]):
            self.journal.violations.append(f"conflict {given}: {status} {answer}")

    def show(self) -> None:
        if self.made:
            experiment, _, made = self.random.choice(self.made[-20:])
            shown = made[0] if made[1] is None else event(made)
            status, answer, _ = self.ask(f"{experiment}/shown", {"decisions": [shown]})
            if status == 200:
                self.journal.noted(place_id(*made), answer["results"][0]["status"])

    def arms(self) -> None:
        """Change arms; a change that is asked for twice may be refused the second time."""
        experiment = self.random.choice(["counts", "linear"])
        verb, arm = self.random.choice(
            [("add", f"arm {self.turns}"), ("pause", "b"), ("resume", "b"), ("pause", "c"), ("resume", "c")]
        )  # fmt: skip
        status, answer, _ = self.ask(f"{experiment}/arms", {verb: [arm]})
        if status == 200:
            self.journal.counts["changes of arms"] += 1
            self.journal.arms.append((experiment, answer["snapshot"], answer["arms"]))

    def export(self) -> None:
        status, answer, _ = self.ask("counts/export", method="GET")
        self.journal.counts["exports"] += status == 200
        if status == 200 and not (answer[:4] == answer[-4:] == b"PAR1"):
            self.journal.violations.append("an export is not whole")


def event(made: Made) -> dict[str, Any]:
    """Return how a request names a decision, or a place of a slate."""
    return {"decision": made[0]} | ({} if made[1] is None else {"place": made[1]})


def value_of(made: Made, name: str) -> float:
    """Return the one reward that a decision, or a place, gets under a name."""
    return hashlib.sha256(f"{place_id(*made)} {name}".encode()).digest()[0] / 256


def check(store: str, journal: Journal) -> list[str]:
    """Compare what is on record with what was acknowledged."""
    database = located(store).reader()
    try:
        with database.transaction():
            secret = hashlib.sha256(SECRET.encode()).digest()
            found = verify(database, secret)
            problems = [*journal.violations, *found.problems]
            journal.counts["snapshots"] = found.snapshots
            journal.counts["matured"] = found.matured
            problems += missing(database, journal, secret)
            for experiment in experiments(database):
                problems += miscounted(database, experiment)
        return problems
    finally:
        database.close()


def missing(database: Database, journal: Journal, secret: bytes) -> Iterator[str]:
    """Say what was acknowledged and is not there, and what is there and nobody asked for."""
    numbers = {each.name: each.id for each in experiments(database)}
    decisions = {row[0]: row[1] for row in database.rows("SELECT id, arm FROM decisions")}
    every = {name: arms_at(database, number, 2**40) for name, number in numbers.items()}
    for (experiment, key), answer in journal.decisions.items():
        for placed in answer.get("slate", [answer]):
            number = decisions.get(place_id(answer["decision"], placed.get("place")))
            if number is None or every[experiment][number].name != placed["arm"]:
                yield f"decision {key} was acknowledged as {answer}, on record is {number}"
    asked_for = {minted(secret, numbers[name], key, 0) for name, key in journal.sent}
    made = {slate_id(each) for each in decisions}
    yield from (f"nobody asked for {each}" for each in made - asked_for)
    shown = {row[0]: row[1] for row in database.rows("SELECT decision, late FROM shown")}
    for decision, status in journal.shown.items():
        if decision not in shown or (
            status != "duplicate" and shown[decision] != (status == "late")
        ):
            yield f"shown event of {decision}, {status}, is {shown.get(decision)}"
    sql = "SELECT decision, id, value, late FROM rewards"
    rewards = {(row[0], row[1]): row[2:] for row in database.rows(sql)}
    for which, (value, status) in journal.rewards.items():
        row = rewards.get(which)
        if (
            row is None
            or row[0] != value
            or (status != "duplicate" and row[1] != (status == "late"))
        ):
            yield f"reward {which} was acknowledged as {value} {status}, on record is {row}"
    for experiment, version, arms in journal.arms:
        there = arms_at(database, numbers[experiment], version)
        if [arm._asdict() for arm in there] != arms:
            yield f"arms of {experiment} at {version} were acknowledged as {arms}, not {there}"


def miscounted(database: Database, experiment: ServedExperiment) -> Iterator[str]:
    """Count again, as simply as can be."""
    sql = "SELECT d.arm, d.id, m.reward FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.experiment = ?"
    rows = database.rows(sql, (experiment.id,))
    given: dict[str, list[float]] = defaultdict(list)
    for decision, value in database.rows("SELECT decision, value FROM rewards WHERE late = 0"):
        given[decision].append(value)
    shown = {row[0] for row in database.rows("SELECT decision FROM shown WHERE late = 0")}
    learned = []
    for arm, decision, reward in rows:
        counts = given[decision] or decision in shown or not experiment.settings.requires_shown
        expected = math.fsum(given[decision]) if counts else None
        if reward != expected:
            yield f"{decision} was learned as {reward}, not {expected}"
        if reward is not None:
            learned.append((arm, reward))
    sums = newest(database, experiment).sums
    found: list[tuple[float, float]]
    if experiment.settings.dimension:
        found = [(sums[0], len(learned))]
    else:
        pulls, totals = sums.reshape(2, -1)
        found = [(pulls[i], sum(arm == i for arm, _ in learned)) for i in range(len(pulls))]
        found += [
            (totals[i], math.fsum(r for arm, r in learned if arm == i)) for i in range(len(totals))
        ]
    yield from (
        f"{experiment.name}: statistics say {one}, the log {other}"
        for one, other in found
        if abs(one - other) > 1e-9 * max(1, other)
    )


def created(port: int, about: dict[str, Any], journal: Journal) -> None:
    """Create an experiment, and have all that it needs compiled: kills would undo it half-way."""
    status, answer = asked(port, "POST", "/v1/experiments", about, PATIENCE)
    assert status == 201, answer
    name, rows = about["name"], [[0.0] * 3] * 3
    first = {"key": "first", "places": 2, "contexts": rows if "dimension" in about else None}
    journal.sent.add((name, "first"))
    status, end = 503, time.monotonic() + PATIENCE
    while status == 503 and time.monotonic() < end:  # while it is being compiled
        status, answer = asked(port, "POST", f"/v1/experiments/{name}/decide", first, PATIENCE)
    assert status == 200, answer


@contextmanager
def under_load(
    servers: Sequence[Server], seed: int, clients: int = 6, journal: Journal | None = None
) -> Iterator[Journal]:
    """Start services, create experiments and ask until the end; then all windows close.

    A journal of before is gone on with, where the store has what is in it.
    """
    journal, stop = journal or Journal(), threading.Event()
    ports = [server.port for server in servers]
    working = [Client(number, ports, journal, stop, seed) for number in range(clients)]
    try:
        for server in servers:
            server.start()
        servers[0].ready()
        for about in EXPERIMENTS:
            created(ports[0], about, journal)
        for server in servers[1:]:
            server.ready()
        time.sleep(0.5 if servers[1:] else 0)  # they have heard of the experiments
        for client in working:
            client.start()
        yield journal
        for server in servers:
            if not server.lives():
                server.start()
            assert server.ready()
        end = time.monotonic() + PATIENCE
        while not journal.is_full() and time.monotonic() < end:
            time.sleep(0.1)
        stop.set()
        for client in working:
            client.join(PATIENCE)
        time.sleep(WINDOW + 1.0)
        for server in servers:
            server.end(signal.SIGTERM)
    finally:
        stop.set()
        for server in servers:
            if server.lives():
                server.end(signal.SIGKILL)


def die_at(server: Server, point: str, passed: int) -> None:
    """Start anew with a point at which the process dies, and wait until it has."""
    if server.lives():
        server.end(signal.SIGKILL)
    server.start(f"{point}:{passed}")
    end = time.monotonic() + PATIENCE
    while server.lives():
        if time.monotonic() > end:
            raise TimeoutError(f"{point} was not passed {passed} times")
        time.sleep(0.01)
    server.start()


def kill_after(server: Server, seconds: float, ready: bool = True) -> None:
    """Kill at any moment, which may be while it starts."""
    if not server.lives():
        server.start()
    if ready:
        server.ready()
    time.sleep(seconds)
    server.end(signal.SIGKILL)
    server.start()


def kills(servers: Sequence[Server], numbers: Sequence[int], seed: int) -> None:
    """Kill so many times: at each point in turn, and in between at random."""
    chance = random.Random(f"{seed} {numbers}")
    for number in numbers:
        server = chance.choice(servers)
        point = NAMES[number // 2 % len(NAMES)]
        if number % 2 == 0:
            die_at(server, point, chance.randint(1, PASSED[point]))
        else:
            kill_after(server, chance.uniform(0, 1.5), ready=chance.random() < 0.7)


def cut_off(servers: Sequence[Server], database: Cluster, seconds: float) -> None:
    """Cut connections, hold a service, and have the database crash; all come back."""
    for server in servers:
        if not server.lives():
            server.start()
        server.ready()
    database.disconnect()
    time.sleep(seconds)
    process = servers[0].process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
    time.sleep(seconds)
    database.crash()
    time.sleep(seconds)
    database.start()
    time.sleep(seconds)


def run(store: str, count: int, seed: int) -> list[str]:
    """Make the long run, and print what was acknowledged and what is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="fairx-crashes-"))
    begun = time.monotonic()
    if store == "sqlite":
        address = f"sqlite:///{folder}/store.db"
        servers = [Server(address, folder)]
        with under_load(servers, seed) as journal:
            kills(servers, range(count), seed)
        problems = check(address, journal)
    else:
        programs = binaries()
        assert programs is not None, "apt-get install postgresql"
        with cluster(programs) as database:
            address = database.create_database()
            servers = [Server(address, folder), Server(address, folder)]
            with under_load(servers, seed) as journal:
                for start in range(0, count, 10):
                    kills(servers, range(start, min(start + 10, count)), seed)
                    cut_off(servers, database, 0.5)
            problems = check(address, journal)
    lines = [f"{name}: {number}" for name, number in sorted(journal.counts.items())]
    lines += [f"kills: {count}", f"seconds: {time.monotonic() - begun:.0f}", f"logs: {folder}"]
    lines += [f"violations: {len(problems)}", *problems[:20]]
    sys.stdout.write("\n".join(lines) + "\n")
    return problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(bool(run(given.store, given.kills, given.seed)))
