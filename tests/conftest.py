"""What holds for all tests: shared modules, interruptions, a real browser and a real PostgreSQL."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
# A shell has what it starts in the background ignore interruptions, and children inherit that:
# the tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Its cluster is held by a lock that Windows has not.
collect_ignore = ["test_postgres_cluster.py"] if sys.platform == "win32" else []

# A busy machine is slow, not wrong.
settings.register_profile("fairx", deadline=None)
settings.load_profile("fairx")

# Nothing of theirs is compiled, or not for its own sake: pages, pictures, files, words, and kernels that
# are called from Python. They are run interpreted alone.
ONCE = {
    "test_adapters", "test_archive", "test_audit_attacked", "test_audit_browser", "test_audit_fields", "test_audit_figures",
    "test_audit_files", "test_audit_noise", "test_audit_options", "test_audit_pages", "test_claims",
    "test_claims_null", "test_client", "test_compact", "test_dashboard_browser", "test_deployment", "test_dialects",
    "test_discounted_ridge", "test_evaluation_coverage", "test_evaluation_fields", "test_failover", "test_features",
    "test_keeping", "test_late_oracles", "test_latex", "test_logs", "test_logs_files", "test_many_arms",
    "test_mutate", "test_notions", "test_operation", "test_outages", "test_pictures", "test_plots", "test_quick", "test_quick_fuzzed",
    "test_report", "test_report_browser", "test_rival_notions", "test_seals", "test_service_attacked", "test_shedding", "test_site",
    "test_site_browser", "test_telling", "test_turnover", "test_typescript", "test_withholding",
    "test_api", "test_architecture", "test_elementary", "test_environments", "test_experiment_files",
    "test_exposure", "test_logged", "test_lossy", "test_merit", "test_metrics", "test_packaging",
    "test_postgres_cluster", "test_progress", "test_pythons", "test_settings", "test_spans",
}  # fmt: skip

NOT_INTERPRETED = {"compiled", "service"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what need not be run twice."""
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        played_interpreted = "slowly" in getattr(item, "fixturenames", ())
        if not marks & NOT_INTERPRETED and (item.path.stem in ONCE or played_interpreted):
            item.add_marker("once")
        if "once" in marks and marks & NOT_INTERPRETED:
            raise pytest.UsageError(f"{item.nodeid} would be run in neither pass")


CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def unavailable(reason: str) -> NoReturn:
    """Skip; where `CI` is set, fail: there nothing may go untested."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def imported(module: str, remedy: str) -> Any:
    """Return a module that only some tests need."""
    try:
        return importlib.import_module(module)
    except ImportError:
        unavailable(f"needs {module.partition('.')[0]}: {remedy}")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Debian's Chromium; nothing is downloaded."""
    webdriver = imported("selenium.webdriver", "pip install selenium")
    if not (shutil.which(CHROMIUM) and shutil.which(DRIVER)):
        unavailable("needs a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield found
    found.quit()


@pytest.fixture(params=[(1280, 900, "light"), (1280, 900, "dark"), (360, 740, "light")], ids=str)
def view(request: pytest.FixtureRequest, browser: Any, address: str) -> Any:
    """Return the browser with the page of the module's `address` open, at a size and in a colour scheme."""
    width, height, scheme = request.param
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    colours = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", colours)
    browser.get_log("performance")
    browser.get(address)
    return browser


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """Run a cluster of this process's own (`postgres_cluster.Cluster`): crash it, start it, cut it off."""
    imported("psycopg", "pip install 'psycopg[binary]'")
    from postgres_cluster import binaries, cluster

    programs = binaries()
    if programs is None:
        unavailable("needs PostgreSQL: apt-get install postgresql")
    with cluster(programs) as running:
        yield running


@pytest.fixture
def database_url(postgres: Any) -> Iterator[str]:
    """Create an empty database for one test and return its address, postgresql://..."""
    if not postgres.running():  # the test before crashed it
        postgres.start()
    url = postgres.create_database()
    yield url
    if not postgres.running():
        postgres.start()
    postgres.drop_database(url)
