"""The installed programs, without installing them: scripts as pip writes them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from testing.tool import Tool, own_environment

ROOT = Path(__file__).resolve().parents[2]


def installed(folder: Path, name: str = "quire", module: str = "quire.cli.main") -> Path:
    """A console script of this name that runs this checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        f"from {module} import main\nmain()\n"
    )
    script.chmod(0o755)
    return script


def run(
    *command: object,
    data: bytes = b"",
    tool: Tool | None = None,
    settings: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """A command with this standard input, and the settings of a tool."""
    environment = tool.environment({}) if tool else {**own_environment(), **(settings or {})}
    return subprocess.run(
        [*map(str, command)],
        env=environment,
        input=data,
        capture_output=True,
        timeout=120,
        cwd=os.environ.get("TMPDIR", "/tmp"),
    )
