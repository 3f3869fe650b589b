"""What holds for all tests: shared modules, interruptions, and a real browser."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# A shell has what it starts in the background ignore interruptions, and children inherit that:
# the tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

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


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Debian's Chromium; nothing is downloaded."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="needs selenium: pip install selenium"
    )
    if not (shutil.which(CHROMIUM) and shutil.which(DRIVER)):
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
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
