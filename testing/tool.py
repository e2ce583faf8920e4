"""Running the tool as a person or a script does: as a process, by its command line."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.settings import Settings
from testing.vendor.standin import Addresses
from testing.warm_start import WarmProcess

ROOT = Path(__file__).resolve().parents[1]
# What the machine's own environment says must not decide a test: vendors', and every setting.
FOREIGN = (
    "OPENAI_", "ANTHROPIC_", "TEMPORAL_", "AWS_", "QUIRE_", "OTEL_",
    *(name.upper() for name in Settings.model_fields),
)  # fmt: skip


def own_environment() -> dict[str, str]:
    """This process's environment without anything that could be a setting, in whatever case.

    A `.env` or `quire.toml` in the repository's root is somebody's own, too.
    """
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(FOREIGN)}
    return {**kept, "QUIRE_CONFIG": "none"}


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def pages(self) -> list[dict[str, Any]]:
        pages: list[dict[str, Any]] = self.json["pages"]
        return pages

    def sources(self) -> dict[str, int]:
        return dict(Counter(page["source"] for page in self.pages))

    def models(self) -> dict[str, int]:
        return dict(Counter(page["model"] for page in self.pages if page["model"]))

    def text(self) -> str:
        return Path(self.json["metadata"]["result_local_path"]).read_text(encoding="utf-8")


class Tool:
    """`starter.py` with a state folder of its own.

    A warm one has its imports done already (see `testing.warm_start`), and so have workers that
    are started with its settings.
    """

    def __init__(self, state: Path, vendor: Addresses | None = None, **settings: str) -> None:
        self.state = state
        self.warm = False
        # What a command is run by, such as `nsenter`; then it cannot be a warm one.
        self.inside: tuple[str, ...] = ()
        self.settings = settings
        if vendor is not None:
            self.settings = {
                "OPENAI_BASE_URL": vendor.openai_url,
                "ANTHROPIC_BASE_URL": vendor.anthropic_url,
                # Scans would otherwise be read for real, which takes its time.
                "LOCAL_OCR": "never",
                **settings,
            }

    def also(self, **settings: str) -> "Tool":
        """The same tool with more settings."""
        other = Tool(self.state)
        other.settings = {**self.settings, **settings}
        other.warm = self.warm
        other.inside = self.inside
        return other

    def within(self, *command: str) -> "Tool":
        """The same tool, run by this command."""
        other = self.cold()
        other.inside = command
        return other

    def warmed(self) -> "Tool":
        """The same tool, with the imports of each command done already."""
        other = self.also()
        other.warm = True
        return other

    def cold(self) -> "Tool":
        """The same tool, each command in an interpreter that starts from nothing."""
        other = self.also()
        other.warm = False
        return other

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        return {**own_environment(), "STATE_DIR": str(self.state), **self.settings, **settings}

    def start(self, *arguments: object, **settings: str) -> subprocess.Popen[str]:
        kind: type[subprocess.Popen[str]] = WarmProcess if self.warm else subprocess.Popen
        return kind(
            [*self.inside, sys.executable, str(ROOT / "starter.py"), *map(str, arguments)],
            env=self.environment(settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A group of its own, so that a test can send it what a terminal would.
            start_new_session=True,
        )

    def run(self, *arguments: object, timeout: float = 120.0, **settings: str) -> Ran:
        started = time.monotonic()
        process = self.start(*arguments, **settings)
        try:
            out, err = process.communicate(timeout=timeout)
        finally:
            process.kill()
        return Ran(process.returncode, out, err, time.monotonic() - started)

    def process(self, source: Path, *arguments: object, **settings: str) -> Ran:
        return self.run("process", source, "--json", *arguments, timeout=120.0, **settings)
