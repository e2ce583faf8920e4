"""What is known of a batch: where each document stands, what it cost, what people want. Pure."""

from quire.contracts.batch import BatchCounts, BatchRequest
from quire.contracts.batch_status import BatchFailure
from quire.contracts.batch_steps import (
    BatchPlan,
    CarriedBatch,
    DocumentEnd,
    LoadReceipt,
    OpenDocument,
    StartReceipt,
)
from quire.contracts.names import document_job_id
from quire.domain.batch.letters import (
    NOT_GOOD,
    RUNNING,
    WAITING,
    counts,
    numbers_of,
    replaced,
)
from quire.domain.batch.progress import Pace, noted
from quire.domain.batch.spend import limit_reached, limit_words
from quire.domain.batch.window import next_numbers
from quire.domain.cost import Spending

FAILURES_KEPT = 5


class BatchState:
    """Every document enters waiting, and ends once each time it is read. Written by
    `BatchWorkflow`, and by `BatchPeople` where people change what is wanted."""

    def __init__(self, request: BatchRequest, started: float) -> None:
        self.request = request
        self.plan: BatchPlan | None = None
        self.started = started
        self.completed_at: float | None = None
        self.phase = "starting"
        self.letters = WAITING * request.documents
        self.open: dict[int, OpenDocument] = {}
        # Documents that wait for an earlier one with the same bytes.
        self.after: dict[int, int] = {}
        self.named: dict[int, str] = {}
        self.takes: dict[int, int] = {}
        self.take = 0
        self.pages = self.degraded = 0
        self.by_source: dict[str, int] = {}
        self.spent = Spending()
        self.max_cost_usd = request.max_cost_usd
        self.paused = self.cancelled = False
        self.last_failures: tuple[BatchFailure, ...] = ()
        self.last_ended: int | None = None
        self.pace: Pace = ()

    # --- what happens ------------------------------------------------------------------------

    def load(self, found: LoadReceipt) -> None:
        """What the store has of the batch, from an earlier run of it."""
        self.letters, self.take = found.letters, found.take
        self.pages, self.degraded = found.pages, found.degraded
        self.by_source = dict(found.by_source)
        self.spent.add(found.paid)

    def started_group(self, receipt: StartReceipt) -> None:
        """What became of documents that were to be started."""
        for one in receipt.running:
            self.open[one.number] = one
            self.after.pop(one.number, None)
            if one.job_id != document_job_id(self.request.batch_id, one.number):
                self.named[one.number] = one.job_id
        self.letters = replaced(self.letters, {one.number: RUNNING for one in receipt.running})
        self.after.update(receipt.after)

    def ended(self, ends: tuple[DocumentEnd, ...], now: float) -> None:
        """Documents have ended, and have their rows."""
        for end in ends:
            self.open.pop(end.number, None)
            self.after.pop(end.number, None)
            self.pages += end.pages
            self.degraded += end.degraded
            for source, pages in end.by_source:
                self.by_source[source] = self.by_source.get(source, 0) + pages
            self.spent.add(end.paid)
            if end.failure is not None:
                self.last_failures = (end.failure, *self.last_failures)[:FAILURES_KEPT]
            self.last_ended = end.number
        self.letters = replaced(self.letters, {end.number: end.letter for end in ends})
        self.pace = noted(self.pace, now, self.counts.ended)

    def skipped(self, numbers: tuple[int, ...]) -> None:
        """Documents will not be started."""
        self.letters = replaced(self.letters, dict.fromkeys(numbers, "n"))
        for number in numbers:
            self.after.pop(number, None)

    def resume(self) -> None:
        """Go on; the time of a pause is no part of the pace."""
        self.paused, self.pace = False, ()

    def retry(self) -> int:
        """What is not good waits again; how many these are."""
        again = numbers_of(self.letters, NOT_GOOD)
        if again:
            self.take += 1
            self.takes.update(dict.fromkeys(again, self.take))
            self.letters = replaced(self.letters, dict.fromkeys(again, WAITING))
            self.cancelled, self.pace, self.last_failures = False, (), ()
        return len(again)

    # --- what is so --------------------------------------------------------------------------

    @property
    def counts(self) -> BatchCounts:
        """How many documents are in each state."""
        return counts(self.letters)

    @property
    def waiting(self) -> tuple[int, ...]:
        """Documents that are not started."""
        return numbers_of(self.letters, WAITING)

    @property
    def settled_usd(self) -> float:
        """What the documents that ended have cost, as far as prices are known."""
        return self.spent.microdollars / 1e6

    @property
    def stopped_by(self) -> str | None:
        """Why nothing more is started, besides a person's wish."""
        limit = self.max_cost_usd
        if limit is None or not limit_reached(self.settled_usd, limit):
            return None
        return limit_words(self.settled_usd, limit)

    @property
    def over(self) -> bool:
        """Whether nothing more is started for good."""
        return self.cancelled or self.stopped_by is not None

    def to_start(self) -> tuple[int, ...]:
        """The documents that may be started now, in their order."""
        if self.paused or self.over:
            return ()
        held = {n for n, other in self.after.items() if not self._has_ended(other)}
        room = self.request.window - len(self.open)
        return next_numbers(self.letters, window=room, held=held)

    def settled_of(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """The documents that these were waiting for, and that have ended."""
        others = {self.after[n] for n in numbers if n in self.after}
        return tuple(sorted(other for other in others if self._has_ended(other)))

    def _has_ended(self, number: int) -> bool:
        return self.letters[number - 1] not in WAITING + RUNNING

    # --- between two runs of the workflow ------------------------------------------------------

    def carry(self) -> CarriedBatch:
        """What a next run needs to go on from here."""
        assert self.plan is not None, "a batch is planned before anything of it is started"
        spent = self.spent
        return CarriedBatch(
            plan=self.plan,
            letters=self.letters,
            running=tuple(self.open[n] for n in sorted(self.open)),
            after=tuple(sorted(self.after.items())),
            named=self.named,
            takes=self.takes,
            take=self.take,
            started=self.started,
            pages=self.pages,
            degraded=self.degraded,
            by_source=self.by_source,
            spent=(spent.input_tokens, spent.output_tokens, spent.microdollars, spent.unpriced),
            max_cost_usd=self.max_cost_usd,
            paused=self.paused,
            cancelled=self.cancelled,
            last_failures=self.last_failures,
            last_ended=self.last_ended,
            pace=self.pace,
        )

    def take_up(self, carried: CarriedBatch) -> None:
        """Go on from where an earlier run was."""
        self.plan, self.letters = carried.plan, carried.letters
        self.open = {one.number: one for one in carried.running}
        self.after = dict(carried.after)
        self.named, self.takes, self.take = dict(carried.named), dict(carried.takes), carried.take
        self.started, self.pages, self.degraded = carried.started, carried.pages, carried.degraded
        self.by_source = dict(carried.by_source)
        self.spent = Spending(*carried.spent)
        self.max_cost_usd = carried.max_cost_usd
        self.paused, self.cancelled = carried.paused, carried.cancelled
        self.last_failures, self.last_ended = carried.last_failures, carried.last_ended
        self.pace = carried.pace
