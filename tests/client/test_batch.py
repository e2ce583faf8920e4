"""Batches from Python, blocking and not."""

from pathlib import Path

import pytest

import quire
from quire import errors
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from tests.process.test_batches import folder_of

pytestmark = pytest.mark.servers


def test_a_folder_is_read_and_saved(
    client: quire.Client, at_vendor: StandIn, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "in", 4, vision=1)
    at_vendor.behave(vendor_answers_late(0.2))
    batch = client.batch(folder, batch_id="of-python", window=2, user="ana")
    assert not batch.wait(timeout=0.01)
    assert batch.status().total_items == 4
    with pytest.raises(errors.BatchConflict):
        client.batch(folder, batch_id="of-python")
    with pytest.raises(errors.JobError):
        client.find_batch("of-python", user="eve").pause()
    batch.pause()
    batch.resume()
    report = batch.result(timeout=60)
    assert [row.status for row in report.rows] == ["done"] * 4
    assert report.summary.counts.done == 4
    saved = batch.save(tmp_path / "out")
    assert (saved.saved, saved.failed) == (4, ())
    assert len(list((tmp_path / "out").glob("*/text.txt"))) == 4
    assert client.find_batch("of-python").report().rows == report.rows
    with pytest.raises(errors.BatchConflict):
        batch.retry()
    with pytest.raises(errors.BatchNotFound):
        client.find_batch("no-batch").status()
    assert {row.job_id for row in client.list(batch="of-python").rows} == {
        row.job_id for row in report.rows
    }


async def test_without_blocking(
    settings_of_client: dict[str, object], at_vendor: StandIn, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "in", 2)
    async with quire.AsyncClient(**settings_of_client) as client:
        batch = await client.batch([str(path) for path in sorted(folder.iterdir())])
        report = await batch.result(timeout=60)
    assert [row.pages_by_source for row in report.rows] == [{"mupdf": 1}] * 2


def test_what_is_misspelt_is_refused(client: quire.Client, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="did you mean 'window'"):
        client.batch(tmp_path, windows=3)  # type: ignore[call-arg]
    with pytest.raises(errors.UsageError):
        client.batch([])
    with pytest.raises(errors.UsageError):
        client.batch(tmp_path, window=0)
