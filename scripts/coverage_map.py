"""Runs of the tests in copies of the tree, and which lines each test ran: for `scripts/mutate`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from coverage import CoverageData
from mutations import Mutant

PARTS = ("src", "tests", "scripts", "benchmarks", "docs", "pyproject.toml", "README.md")
PLUGIN = '''
"""Run the tests that MUTATE_TESTS lists, if any; write what they do to MUTATE_LOG."""
import json, os, pathlib
def pytest_collection_modifyitems(items):
    if name := os.environ.get("MUTATE_TESTS"):
        chosen = set(json.loads(pathlib.Path(name).read_text()))
        items[:] = [item for item in items if item.nodeid in chosen]
def pytest_runtest_logreport(report):
    with open(os.environ["MUTATE_LOG"], "a") as log:
        print(json.dumps([report.nodeid, report.outcome, report.duration]), file=log)
'''
RUNNING: set[int] = set()  # processes of pytest, each the leader of a group


class Map(NamedTuple):
    """The tests that ran each line of each file, and the seconds that each test takes."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant, budget: float) -> list[str]:
        """Return the tests to run: of the line, or of the file where imports alone run the line.

        A fixture runs in the first test that needs it: where it ran the line, all tests of the
        module are taken.
        """
        lines = self.lines.get(mutant.path, {})
        found = lines.get(str(mutant.line)) or [test for tests in lines.values() for test in tests]
        modules = {file_of(test) for test in found if test.endswith("|setup")}
        names = {test.rpartition("|")[0] for test in found}
        names |= {test for test in self.seconds if file_of(test) in modules}
        chosen: list[str] = []
        spent = 0.0
        for test in sorted(names & self.seconds.keys(), key=self.seconds.__getitem__):
            spent += self.seconds[test]
            if spent > budget and chosen:
                break
            chosen.append(test)
        return chosen


def file_of(test: str) -> str:
    """Return the file that a test is in."""
    return test.partition("::")[0]


def mapped(tree: Path, folder: Path, jobs: int) -> Map:
    """Return the map of a tree; run the tests that it is not known of."""
    paths = {"src": folder / "src.json"}
    for path in sorted((tree / "tests").glob("test_*.py")):
        paths[f"tests/{path.name}"] = folder / f"{path.stem}-{digest([path])}.json"
    unknown = [name for name, path in paths.items() if not path.exists()]
    if unknown:
        found = looked_at(tree, unknown, jobs)
        for name in unknown:
            part = found.get(name, {"lines": {}, "seconds": {}})
            paths[name].write_text(json.dumps(part), "utf-8")
    return merged(json.loads(path.read_text("utf-8")) for path in paths.values())


def merged(parts: Iterable[Any]) -> Map:
    """Return one map of those of all files of tests."""
    lines: dict[str, Any] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = {}
    for part in parts:
        seconds |= part["seconds"]
        for file, found in part["lines"].items():
            for line, tests in found.items():
                lines[file][line] += tests
    return Map(lines, seconds)


def looked_at(tree: Path, unknown: list[str], jobs: int) -> dict[str, Any]:
    """Run files of tests, and return the map of each."""
    sys.stderr.write(f"running {len(unknown)} files of tests, to see which lines they run\n")
    with tempfile.TemporaryDirectory() as temporary:
        there = copied(tree, Path(temporary).resolve() / "tree")
        options = ["-n", str(jobs), "--cov=src", "--cov-context=test", "--cov-report=", *unknown]
        _, words = pytest(there, options)
        sys.stderr.write("\n".join(words.splitlines()[-10:]) + "\n")
        return gathered(there)


def gathered(tree: Path) -> dict[str, Any]:
    """Return, for each file of tests, what those that passed ran and how long they took."""
    found: dict[str, Any] = defaultdict(
        lambda: {"lines": defaultdict(lambda: defaultdict(list)), "seconds": Counter()}
    )
    for text in (tree / "log.jsonl").read_text("utf-8").splitlines():
        test, outcome, duration = json.loads(text)
        found[key_of(test)]["seconds"][test] += duration if outcome == "passed" else float("inf")
    data = CoverageData(str(tree / ".coverage"))
    data.read()
    for file in data.measured_files():
        for line, contexts in data.contexts_by_lineno(file).items():
            for test in filter(None, contexts):
                found[key_of(test)]["lines"][str(Path(file).relative_to(tree))][line].append(test)
    for part in found.values():
        part["seconds"] = {test: n for test, n in part["seconds"].items() if n < float("inf")}
    return found


def key_of(test: str) -> str:
    """Return under which name the map of a test is kept: all doctests of the sources are one."""
    return "src" if test.startswith("src/") else file_of(test)


def copied(tree: Path, target: Path) -> Path:
    """Copy what the tests need, without caches."""
    target.mkdir(parents=True)
    for part in PARTS:
        if (tree / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".hypothesis", "*.egg-info")
            shutil.copytree(tree / part, target / part, ignore=ignored)
        elif (tree / part).exists():
            shutil.copy(tree / part, target / part)
    (target / "mutate_plugin.py").write_text(PLUGIN, "utf-8")
    return target


def pytest(tree: Path, options: Iterable[str], timeout: float | None = None, **names: str) -> Any:
    """Run tests in a copy; return the status, None if they did not end, and what they wrote."""
    path, log = f"{tree / 'src'}{os.pathsep}{tree}", tree / "log.jsonl"
    names |= {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "MUTATE_LOG": str(log)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mutate_plugin", *options]
    command += ["-p", "no:cacheprovider", "-m", "not slow and not service"]
    log.unlink(missing_ok=True)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as words:
        running = subprocess.Popen(
            command, cwd=tree, env=os.environ | names, stdout=words, stderr=words, process_group=0
        )
        RUNNING.add(running.pid)
        try:
            running.wait(timeout)
            status: int | None = running.returncode
        except subprocess.TimeoutExpired:
            stopped(running)
            status = None
        RUNNING.discard(running.pid)
        words.seek(0)
        return status, words.read()


def stopped(running: Any) -> None:
    """Interrupt, which leaves the tests time to stop what they started; then kill."""
    for sent in (signal.SIGINT, signal.SIGKILL):
        os.killpg(running.pid, sent)
        try:
            running.wait(10)
        except subprocess.TimeoutExpired:
            continue
        return


def digest(paths: Iterable[Path]) -> str:
    """Return what tells these files from others."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:12]
