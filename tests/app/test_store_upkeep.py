"""The upkeep of the store: a failure waits for the next period."""

from pathlib import Path
from typing import cast

import pytest
from temporalio.client import Client

from quire.app import store_upkeep
from quire.settings import Settings
from quire.store.folder import FolderStore


async def test_whatever_fails_does_not_end_the_upkeep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as an open document whose start no client of ours wrote: it cannot be decoded."""

    async def fail(*_: object) -> None:
        raise ValueError("no request")

    monkeypatch.setattr(store_upkeep, "remove_unused", fail)
    settings = Settings.model_validate({"store_keep": "1h"})
    await store_upkeep.tend_store(settings, FolderStore(tmp_path), cast(Client, None))
    assert "store_upkeep_failed" in caplog.text
