"""A real browser for the tests of pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def start(*, script: bool = True) -> Chrome:
    """A browser without a window; skips the test where the machine has none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("there is no browser: install chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if not script:
        setting = "profile.managed_default_content_settings.javascript"
        options.add_experimental_option("prefs", {setting: 2})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def show(browser: Chrome, page: Path, *, width: int = 1200, theme: str = "light") -> None:
    """Load a page; logs hold this page only."""
    browser.get_log("performance")
    browser.get_log("browser")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    browser.get(page.as_uri())


def requests(browser: Chrome) -> set[str]:
    """Addresses that were asked for since the page began to load, but those inside of it."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    return {address for address in sent if not address.startswith("data:")}


def all_of(browser: Chrome, selector: str) -> list[WebElement]:
    return browser.find_elements("css selector", selector)


def one_of(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element("css selector", selector)


def choose(browser: Chrome, field: str, value: str) -> None:
    from selenium.webdriver.support.select import Select

    select = Select(one_of(browser, f"#{field}"))
    select.select_by_index([one.get_attribute("value") for one in select.options].index(value))
