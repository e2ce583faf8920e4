"""A real Prometheus with the configuration that a test gives it."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from testing.worker import fetch, free_port

Answer = dict[tuple[str, ...], float]


@contextmanager
def prometheus(folder: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """Its URL, once it answers."""
    if shutil.which("prometheus") is None:
        pytest.skip("needs prometheus (make tools)")
    folder.mkdir()
    file = folder / "prometheus.yml"
    file.write_text(json.dumps(config))
    url = f"http://127.0.0.1:{free_port()}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={url.removeprefix('http://')}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_ready(url, process, folder / "log")
        yield url
    finally:
        process.kill()
        process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            fetch(f"{url}/-/ready")
            return
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < end, "Prometheus did not start"
            time.sleep(0.1)


def ask(url: str, query: str) -> Answer:
    """The answer of an instant query, by the values of its labels in their names' order."""
    quoted = urllib.parse.urlencode({"query": query})
    try:
        body: dict[str, Any] = json.loads(fetch(f"{url}/api/v1/query?{quoted}"))
    except urllib.error.HTTPError as error:
        pytest.fail(f"{query}: {error.read().decode()}")
    return {
        tuple(row["metric"][name] for name in sorted(row["metric"])): float(row["value"][1])
        for row in body["data"]["result"]
    }


def until(url: str, query: str, expected: Answer | None = None) -> Answer:
    """The answer, as soon as there is one, or as soon as it is the expected one: scrapes come
    every second."""
    end = time.monotonic() + 20
    while not (found := ask(url, query)) or (expected is not None and found != expected):
        assert time.monotonic() < end, f"{query}: {found}"
        time.sleep(0.2)
    return found
