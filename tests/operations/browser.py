"""Chromium, driven by the WebDriver protocol itself: a few requests need no library."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testing.worker import free_port

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip

_TEXT = """
const bodies = [document.body];
for (const frame of document.querySelectorAll("iframe"))
    bodies.push(frame.contentDocument?.body);
return bodies.map(body => body?.innerText ?? "").join("\\n");
"""

_CLICK = """
const found = [...document.querySelectorAll("button")].filter(b => b.innerText.trim() === %s);
found[0].click();
"""
_SCROLL = """
const found = [...document.querySelectorAll("h1, h2, h3, h4")];
found.filter(h => h.innerText.trim() === %s)[0].scrollIntoView();
"""


class Browser:
    """One window."""

    def __init__(self, url: str, session: str) -> None:
        self._session = f"{url}/session/{session}"

    def open(self, url: str) -> None:
        _ask("POST", f"{self._session}/url", {"url": url})

    def resize(self, width: int, height: int) -> None:
        _ask("POST", f"{self._session}/window/rect", {"width": width, "height": height})

    def run(self, script: str) -> Any:
        return _ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def click(self, words: str) -> None:
        """Press the button that says this."""
        self.run(_CLICK % json.dumps(words))

    def scroll_to(self, heading: str) -> None:
        self.run(_SCROLL % json.dumps(heading))

    def press(self, key: str) -> None:
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        order = {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]}
        _ask("POST", f"{self._session}/actions", order)

    def text(self) -> str:
        """All that the window shows, also within its frames."""
        return str(self.run(_TEXT))

    def wait_for(self, *words: str, timeout: float = 30.0) -> str:
        """What the page shows, once all the words are there."""
        end = time.monotonic() + timeout
        while True:
            shown = self.text()
            lacking = [word for word in words if word not in shown]
            if not lacking:
                return shown
            assert time.monotonic() < end, f"{lacking} not in: {shown}"
            time.sleep(0.2)

    def picture(self) -> bytes:
        return base64.b64decode(_ask("GET", f"{self._session}/screenshot"))


def is_there() -> bool:
    return bool(shutil.which("chromedriver") and shutil.which("chromium"))


@contextmanager
def chromium(width: int = 1280, height: int = 1400) -> Iterator[Browser]:
    """A window of a browser that has never been used before."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            browser = Browser(url, _begin(url, Path(folder), width, height))
            yield browser
            # Ends the browser too: a killed driver would leave it behind.
            _ask("DELETE", browser._session)
        finally:
            driver.terminate()
            driver.wait()


def _begin(url: str, folder: Path, width: int, height: int) -> str:
    arguments = [*FLAGS, f"--user-data-dir={folder}", f"--window-size={width},{height}"]
    options = {"goog:chromeOptions": {"args": arguments}}
    end = time.monotonic() + 20
    while True:
        try:
            answer = _ask("POST", f"{url}/session", {"capabilities": {"alwaysMatch": options}})
            return str(answer["sessionId"])
        except (ConnectionError, urllib.error.URLError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _ask(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    request.get_method = lambda: method  # type: ignore[method-assign]
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["value"]
