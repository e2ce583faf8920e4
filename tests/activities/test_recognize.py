"""One attempt at one page: who paid for the answer, and that it is reported exactly once."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.document.recognize import RecognizePage
from activities.support.attempt import RouteAttempt
from activities.support.slots import Slots
from quire.contracts.document import ReplacedRun
from quire.contracts.money import NOTHING
from quire.contracts.reading import ImageOptions, ReadingOptions
from quire.contracts.steps import AttemptFailure, AttemptReceipt, AttemptRequest
from quire.contracts.stored import Brief
from quire.domain.document.keys import answer_key, brief_id, brief_key, reading_id, source_key
from quire.domain.document.transcription import PageImage
from quire.ports import DocumentReader
from quire.providers.model_provider import open_provider
from quire.store.folder import FolderStore
from quire.telemetry.traces import NoTraces
from testing.vendor import StandIn, vendor_answers_late, vendor_refuses

MODEL = "gpt-6-luna"
BRIEF = Brief(
    job_id="job",
    sha256="0" * 64,
    page_count=1,
    reading=ReadingOptions(system_prompt="read"),
    routes=(("openai", MODEL, 60.0),),
)
REQUEST = AttemptRequest(brief=brief_id(BRIEF), page=1, seconds=10)


class Drawings:
    """Draws nothing: what is on the page does not matter here."""

    async def render(
        self, path: Path, page: int, options: ImageOptions, password: str | None, *, scale: float
    ) -> PageImage:
        return PageImage(b"\xff\xd8", "image/jpeg", 1, 1)


class StoreFailsOnce(FolderStore):
    """Full when the first answer comes, and well again after that."""

    failed = False

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        if key.startswith("answers/") and not self.failed:
            self.failed = True
            raise OSError(28, "No space left on device")
        return await super().put(key, data, replace=replace)


class StoreLosesItsReply(FolderStore):
    """Writes, loses the reply, is asked again by its client and finds the object there."""

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        await super().put(key, data, replace=replace)
        return await super().put(key, data, replace=replace)


@pytest.fixture
def vendor() -> Iterator[StandIn]:
    with StandIn() as vendor:
        yield vendor


async def filled(store: FolderStore) -> FolderStore:
    await store.put(brief_key(brief_id(BRIEF)), BRIEF.model_dump_json().encode())
    await store.put(source_key(BRIEF.sha256), b"%PDF-")
    return store


def worker(store: FolderStore, vendor: StandIn, slots: Slots | None = None) -> RecognizePage:
    return RecognizePage(
        store,
        cast(DocumentReader, Drawings()),
        {"openai": open_provider("openai", "key", vendor.openai_url)},
        slots or Slots({f"openai:{MODEL}": 2}),
        lambda token, job_id: "",
        NoTraces(),
    )


async def attempt(
    by: RecognizePage, run: str, number: int = 1, request: AttemptRequest = REQUEST
) -> AttemptReceipt:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, workflow_run_id=run, attempt=number)
    receipt: Any = await environment.run(by.recognize_page, request)
    assert isinstance(receipt, AttemptReceipt)
    return receipt


def tokens(*receipts: AttemptReceipt) -> tuple[int, int]:
    """All that these receipts say was paid."""
    paid = [bill for receipt in receipts for bill in (receipt.paid, receipt.wasted)]
    return sum(bill.input_tokens for bill in paid), sum(bill.output_tokens for bill in paid)


async def test_run_that_lost_its_receipt_still_paid_and_another_did_not(
    vendor: StandIn, tmp_path: Path
) -> None:
    """A worker dies after it stored the answer: Temporal has the same attempt made again."""
    store = await filled(FolderStore(tmp_path))
    first = await attempt(worker(store, vendor), "run")
    again = await attempt(worker(store, vendor), "run")
    other = await attempt(worker(store, vendor), "another run")
    assert len(vendor.calls()) == 1
    assert tokens(first) == vendor.billed() != (0, 0)
    assert first.paid.microdollars
    assert again == first.model_copy(update={"stored": True})
    assert other == again.model_copy(update={"reused": True, "paid": NOTHING})


@pytest.mark.parametrize("second_run", ["run", "another run"])
async def test_two_that_buy_the_same_answer_both_say_so(
    vendor: StandIn, tmp_path: Path, second_run: str
) -> None:
    """Two jobs, or two tries of one attempt whose first worker was only thought to be lost."""
    vendor.behave(vendor_answers_late(0.3))
    store = await filled(FolderStore(tmp_path))
    runs = ("run", second_run)
    receipts = await asyncio.gather(*(attempt(worker(store, vendor), run) for run in runs))
    assert len(vendor.calls()) == 2
    (beaten,) = [receipt for receipt in receipts if receipt.wasted != NOTHING]
    (kept,) = [receipt for receipt in receipts if receipt.wasted == NOTHING]
    assert (kept.stored, kept.reused) == (beaten.stored, False) == (False, False)
    if second_run == "run":
        # Temporal takes one receipt of an attempt: that of the last try, which saw both.
        assert tokens(beaten) == vendor.billed()
        assert not beaten.reused
    else:
        assert tokens(*receipts) == vendor.billed()
        assert beaten.reused


async def test_a_second_try_takes_what_the_first_stored_while_it_waited(
    vendor: StandIn, tmp_path: Path
) -> None:
    """A worker that was too busy to beat is taken for lost, and stores its answer after all."""
    store, route = await filled(FolderStore(tmp_path)), f"openai:{MODEL}"
    slots = Slots({route: 1})
    environment = ActivityEnvironment()
    await environment.run(slots.take, route, None)
    waiting = asyncio.create_task(attempt(worker(store, vendor, slots), "run", number=2))
    await asyncio.sleep(0.3)
    first = await attempt(worker(store, vendor), "run")
    slots.give_back(route)
    again = await waiting
    assert len(vendor.calls()) == 1
    assert tokens(again) == tokens(first) == vendor.billed()
    assert again.wasted == NOTHING


async def test_answer_that_only_seems_to_be_another_is_paid_for_once(
    vendor: StandIn, tmp_path: Path
) -> None:
    receipt = await attempt(worker(await filled(StoreLosesItsReply(tmp_path)), vendor), "run")
    assert tokens(receipt) == vendor.billed()
    assert (receipt.stored, receipt.reused, receipt.wasted) == (False, False, NOTHING)


async def test_answer_that_waited_for_the_store_was_paid_for_once(
    vendor: StandIn, tmp_path: Path
) -> None:
    store = await filled(StoreFailsOnce(tmp_path))
    one = worker(store, vendor)
    with pytest.raises(ApplicationError, match="is full"):
        await attempt(one, "run")
    # Another job on the same bytes comes first, and saves what the first one bought.
    other, own = await attempt(one, "another run"), await attempt(one, "run")
    assert len(vendor.calls()) == 1
    assert tokens(other) == (0, 0)
    assert other.reused
    assert tokens(own) == vendor.billed()
    assert not own.reused


async def test_failure_tells_what_it_cost(vendor: StandIn, tmp_path: Path) -> None:
    vendor.behave(vendor_refuses())
    with pytest.raises(ApplicationError) as caught:
        await attempt(worker(await filled(FolderStore(tmp_path)), vendor), "run")
    failure = AttemptFailure.model_validate(caught.value.details[0])
    assert (failure.wasted.input_tokens, failure.wasted.output_tokens) == vendor.billed()
    assert failure.wasted.microdollars


@pytest.mark.parametrize("salt", ["", "forced"])
async def test_answer_of_a_replaced_run_stays_with_the_route_that_read_it(
    vendor: StandIn, tmp_path: Path, salt: str
) -> None:
    """Under the key of another route it would pass for that model's, in every later job."""
    store = await filled(FolderStore(tmp_path))
    await attempt(worker(store, vendor), "stuck")
    healed = BRIEF.model_copy(
        update={
            "reading": BRIEF.reading.model_copy(update={"salt": salt}),
            "routes": (("anthropic", "claude", 60.0), ("local", "rapidocr", 9.0), *BRIEF.routes),
            "replaced": (ReplacedRun(bought_by=("stuck",), any_route=True),),
        }
    )
    await store.put(brief_key(brief_id(healed)), healed.model_dump_json().encode())
    asked = AttemptRequest(brief=brief_id(healed), page=1, seconds=10)
    taken = await attempt(worker(store, vendor), "healed", request=asked)
    assert (taken.read_by, taken.stored, taken.reused) == (2, True, True)
    assert len(vendor.calls()) == 1
    reading = reading_id(healed.reading)
    kept = [
        await store.exists(answer_key(BRIEF.sha256, 1, reading, provider, model))
        for provider, model, _ in healed.routes
    ]
    assert kept == [False, False, True]


@pytest.mark.parametrize("meanwhile", [False, True])
async def test_a_second_route_takes_what_the_first_has_stored(
    vendor: StandIn, tmp_path: Path, meanwhile: bool
) -> None:
    """A worker is lost after it stored the answer, and before it said so: the page is asked of
    another route, which may have to wait for a slot while that happens."""
    store = await filled(FolderStore(tmp_path))
    two = BRIEF.model_copy(update={"routes": (*BRIEF.routes, ("openai", "other", 60.0))})
    await store.put(brief_key(brief_id(two)), two.model_dump_json().encode())
    asked = AttemptRequest(brief=brief_id(two), page=1, seconds=10)
    slots = Slots({"openai:other": 1})
    environment = ActivityEnvironment()
    await environment.run(slots.take, "openai:other", None)
    if not meanwhile:
        await attempt(worker(store, vendor), "run", request=asked)
    second = asked.model_copy(update={"route": 1, "attempt": 2})
    waiting = asyncio.create_task(attempt(worker(store, vendor, slots), "run", request=second))
    if meanwhile:
        await asyncio.sleep(0.3)
        await attempt(worker(store, vendor), "run", request=asked)
    slots.give_back("openai:other")
    taken = await waiting
    assert (taken.read_by, taken.stored, taken.reused) == (0, True, False)
    assert len(vendor.calls()) == 1
    assert tokens(taken) == vendor.billed()
    # Another run has asked for that model, and gets it.
    other = await attempt(worker(store, vendor, Slots({"openai:other": 1})), "new", request=second)
    assert (other.read_by, other.stored) == (None, False)
    # The first route does the same, when it is the second's worker that is lost.
    async for entry in store.entries("answers"):
        await store.delete(entry.key)
    await attempt(worker(store, vendor, Slots({"openai:other": 1})), "run", request=second)
    first = await attempt(worker(store, vendor), "run", number=2, request=asked)
    assert (first.read_by, len(vendor.calls())) == (1, 3)


def test_ocr_does_not_stand_in_for_a_model() -> None:
    brief = BRIEF.model_copy(update={"routes": (*BRIEF.routes, ("local", "rapidocr", 9.0))})
    one = RouteAttempt(run_id="healed", brief=brief, request=REQUEST)
    assert [place for place, _, _ in one.replaced_keys(ReplacedRun(any_route=True))] == [0]
