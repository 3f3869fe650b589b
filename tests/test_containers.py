"""The containers of `deploy`, built and run: each of them dies, and what was acknowledged stays.

Slow, and only where an engine runs that has its base images or can fetch them (docker, or podman with docker's commands).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from postgres_cluster import free_port

from fairx import Exponential, FairXTS
from fairx.client import Client, Handle

ROOT = Path(__file__).parent.parent
STORE = "postgresql://fairx@database/fairx"
NEW = ("accepted", "duplicate")  # where nginx asked a second time
NAMES = {"FAIRX_SECRET", "FAIRX_ADMIN_TOKEN", "POSTGRES_PASSWORD"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "deploy").exists(), reason="not part of the sdist: use a clone"),
]


def works(*command: str) -> bool:
    found = shutil.which(command[0])
    if found is None:
        return False
    return not subprocess.run(command, check=False, capture_output=True).returncode


class Composed:
    """A project of its own: not that of whoever runs the tests, nor its images and volumes."""

    def __init__(self, folder: Path, program: list[str]) -> None:
        self.port = free_port()
        self.environment = os.environ | {name: secrets.token_hex(32) for name in NAMES}
        file = folder / "compose.yaml"
        text = (ROOT / "deploy" / "compose.yaml").read_text()
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}")
        text = text.replace("image: fairx\n", "image: fairx-test\n")
        file.write_text(text.replace("name: fairx\n", ""))  # compose 1.29, Debian's, knows none
        where = ["--file", str(file), "--project-directory", str(ROOT / "deploy")]
        self.command = [*program, "--project-name", "fairx-test", *where]

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, *arguments],
            env=self.environment, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def client(self) -> Client:
        url, token = f"http://127.0.0.1:{self.port}", self.environment["FAIRX_ADMIN_TOKEN"]
        return Client(url, token, timeout=10, retries=20)


@pytest.fixture(scope="module")
def image() -> str:
    """Build the image; the network is the machine's, which its package registry may need."""
    engine = next((each for each in ("docker", "podman") if works(each, "info")), None)
    if engine is None:
        pytest.skip("needs a container engine that runs, and its registry: docker or podman")
    build = ["build", "--network", "host", "--file", "deploy/Containerfile", "--tag", "fairx-test"]
    subprocess.run([engine, *build, "."], cwd=ROOT, check=True)
    return engine


@pytest.fixture
def composed(image: str, tmp_path: Path) -> Iterator[Composed]:
    """Start all services, and take them away with their volumes."""
    program = next(
        (each for each in (["docker", "compose"], ["docker-compose"]) if works(*each, "version")),
        None,
    )
    if program is None:
        pytest.skip("needs docker compose")
    composed = Composed(tmp_path, program)
    try:
        composed("up", "--detach")
        yield composed
    finally:
        composed("down", "--volumes")


def test_the_image_runs_on_a_file_system_that_only_reads(image: str) -> None:
    run = [image, "run", "--rm", "--read-only", "fairx-test", "--help"]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert "--limit-at-once" in done.stdout


def test_each_container_is_killed_and_what_was_acknowledged_stays(composed: Composed) -> None:
    with composed.client() as client:
        page = client.experiment("front-page")
        wait_until_ready(composed)
        page.create(["a", "b"], FairXTS(Exponential(4), prior_std=1, reward_std=0.5))
        made = {key: act(page, key, *NEW) for key in range(50)}
        for number, name in enumerate(("fairx-1", "fairx-2", "database", "nginx"), 1):
            composed("kill", name)
            if name.startswith("fairx"):  # the other one is asked
                keys = range(50 * number, 50 * number + 50)
                made |= {key: act(page, key, *NEW) for key in keys}
            composed("start", name)
            wait_until_ready(composed)
            assert {key: act(page, key, "duplicate") for key in made} == made
        status = page.status()
        assert status.decisions == len(made) == sum(arm.rewards for arm in status.arms) == 150
    verified = composed("exec", "-T", "fairx-1", "fairx", "verify", "--store", STORE)
    assert verified.startswith("150 decisions of 1 experiments made again")
    assert verified.endswith(": 0 problems\n")


def act(page: Handle, key: int, *expected: str) -> str:
    """Decide and reward; a reward that counted is a duplicate when it comes again."""
    decision = page.decide(key=f"visit {key}").decision
    assert page.reward(decision, 1.0, id="click").status in expected
    return decision


def wait_until_ready(composed: Composed) -> None:
    """Wait for a `readyz` of both processes, which nginx asks in turn."""
    good, end = 0, time.monotonic() + 120
    while good < 4 and time.monotonic() < end:
        try:
            asked = httpx.get(f"http://127.0.0.1:{composed.port}/readyz", timeout=5)
            good = good + 1 if asked.status_code == 200 else 0
        except httpx.RequestError:
            good = 0
        time.sleep(0.2 if good else 0.5)
    assert good == 4, composed("logs")
