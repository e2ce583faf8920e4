"""What every test may use."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import pdfs
from testing.s3 import S3Server
from testing.tool import Tool
from testing.vendor.standin import StandIn

pytest_plugins = ("tests.lanes", "tests.skip_report")


@pytest.fixture
def vendor() -> Iterator[StandIn]:
    with StandIn() as standing_in:
        yield standing_in


@pytest.fixture
def tool(tmp_path: Path, vendor: StandIn) -> Tool:
    """The tool with both vendors configured, each at the stand-in."""
    return Tool(tmp_path / "state", vendor).warmed()


@pytest.fixture
def lone_tool(tmp_path: Path) -> Tool:
    """The tool on a fresh machine: no key, no server."""
    return Tool(tmp_path / "state").warmed()


@pytest.fixture(scope="session")
def pdf_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pdfs")


@pytest.fixture(scope="session")
def one_page(pdf_folder: Path) -> Path:
    return pdfs.text_pdf(pdf_folder / "one.pdf")


@pytest.fixture(scope="session")
def mixed(pdf_folder: Path) -> Path:
    """4 pages of text, then 8 that need vision."""
    return pdfs.mixed_pdf(pdf_folder / "mixed.pdf", 4, 8)


@pytest.fixture(scope="session")
def forty(pdf_folder: Path) -> Path:
    """40 pages that need vision."""
    return pdfs.mixed_pdf(pdf_folder / "forty.pdf", 0, 40)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server with a bucket."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A plain web server and the folder it serves."""
    folder = tmp_path / "web"
    folder.mkdir()
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": _silent})
    handler = functools.partial(quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()


def _silent(*_: object) -> None:
    pass
