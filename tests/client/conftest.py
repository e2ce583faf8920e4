"""One client for the tests of a module: a server takes seconds to start."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from testing.tool import own_environment
from testing.vendor.standin import StandIn


@pytest.fixture(scope="module")
def plain_environment() -> Iterator[None]:
    """The environment without anything that could be a setting."""
    kept, plain = dict(os.environ), own_environment()
    for name in kept.keys() - plain.keys():
        del os.environ[name]
    yield
    os.environ.update(kept)


@pytest.fixture(scope="module")
def module_vendor() -> Iterator[StandIn]:
    with StandIn() as vendor:
        yield vendor


@pytest.fixture
def at_vendor(module_vendor: StandIn) -> Iterator[StandIn]:
    """The client's vendor, without another test's rules and calls."""
    module_vendor.reset()
    yield module_vendor
    module_vendor.release()
    module_vendor.reset()


@pytest.fixture(scope="module")
def settings_of_client(
    plain_environment: None, module_vendor: StandIn, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, object]:
    """Settings of a client whose models are at the stand-in."""
    return {
        "state_dir": tmp_path_factory.mktemp("client") / "state",
        "openai_base_url": module_vendor.openai_url,
        "anthropic_base_url": module_vendor.anthropic_url,
        "local_ocr": "never",
    }


@pytest.fixture(scope="module")
def client(settings_of_client: dict[str, object]) -> Iterator[quire.Client]:
    with quire.Client(**settings_of_client) as opened:
        yield opened


@pytest.fixture
def fresh(tmp_path: Path, one_page: Path) -> Path:
    """A page of text with bytes that no other test has."""
    path = tmp_path / "letter.pdf"
    path.write_bytes(one_page.read_bytes() + f"\n% {tmp_path}\n".encode())
    return path
