"""The installed programs, without installing them: scripts as pip writes them."""

import os
import subprocess
import sys
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
    *command: object, data: bytes | None = None, tool: Tool | None = None, **settings: str
) -> subprocess.CompletedProcess[bytes]:
    """A command with this standard input, and the settings of a tool."""
    environment = tool.environment(settings) if tool else {**own_environment(), **settings}
    return subprocess.run(
        [*map(str, command)],
        env=environment,
        input=b"" if data is None else data,
        capture_output=True,
        timeout=120,
        cwd=os.environ.get("TMPDIR", "/tmp"),
    )
