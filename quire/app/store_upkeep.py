"""Keeps the store small, as `STORE_KEEP` and `STORE_LIMIT` say, by the rule of `clean`.

Every worker looks once a period, and who is first does it: the store itself holds the lease.
"""

import asyncio
import logging
import random
import time
from functools import partial

from temporalio.client import Client
from temporalio.common import MetricMeter

from quire.domain.document.keys import lease_key
from quire.ports import Store
from quire.settings import Settings
from quire.store.remove_unused import Removal, Rule, remove_unused
from quire.telemetry.metrics import STORE_REMOVED, STORE_SIZE
from quire.telemetry.recorder import MetricRecorder
from quire.temporal.open_documents import find_open_documents

log = logging.getLogger("quire.store")
TASK = "upkeep"
PERIOD_S = 3600.0
# Workers that start together look one after the other.
SPREAD_S = 5.0


def upkeep_rules(settings: Settings) -> tuple[Rule, ...]:
    """What the settings ask for; nothing by default."""
    rules = []
    if settings.store_keep is not None:
        rules.append(Rule(keep_s=settings.store_keep))
    if settings.store_limit is not None:
        rules.append(Rule(limit=settings.store_limit))
    return tuple(rules)


async def keep_store_small(
    settings: Settings, store: Store, client: Client, meter: MetricMeter
) -> None:
    """Look after the store for as long as the worker runs."""
    while upkeep_rules(settings):
        await asyncio.sleep(random.uniform(0.0, SPREAD_S))  # noqa: S311
        await tend_store(settings, store, client, meter)
        await asyncio.sleep(PERIOD_S - time.time() % PERIOD_S)


async def tend_store(
    settings: Settings, store: Store, client: Client, meter: MetricMeter | None = None
) -> None:
    """Look after the store once, unless it was done in this period. A failure is only logged."""
    try:
        if upkeep_rules(settings) and await _is_first(store):
            for rule in upkeep_rules(settings):
                removal = await remove_unused(store, rule, partial(find_open_documents, client))
                _tell(removal, rule, meter)
    except Exception as error:
        # Whatever it is, such as the start of a document that no client of ours wrote: the next
        # period tries again.
        log.warning("store_upkeep_failed", extra={"error": str(error) or type(error).__name__})


async def _is_first(store: Store) -> bool:
    period = int(time.time() // PERIOD_S)
    if not await store.put(lease_key(TASK, period), b"", replace=False):
        return False
    async for entry in store.entries(lease_key(TASK, period).rpartition("/")[0] + "/"):
        if entry.key != lease_key(TASK, period):
            await store.delete(entry.key)
    return True


def _tell(removal: Removal, rule: Rule, meter: MetricMeter | None) -> None:
    removed = sum(kind.bytes for kind in removal.kinds.values())
    left = removal.size - removed
    facts = {
        "objects": sum(kind.objects for kind in removal.kinds.values()),
        "bytes": removed,
        "spared": removal.spared.objects,
        "left_bytes": left,
    }
    log.info("store_tended", extra=facts)
    if rule.limit is not None and left > rule.limit:
        # All that is left is young, or needed by open documents.
        log.warning("store_over_limit", extra={"left_bytes": left, "limit": rule.limit})
    if meter is not None:
        recorder = MetricRecorder(meter)
        recorder.set_level(STORE_SIZE, left)
        for kind, of_kind in removal.kinds.items():
            recorder.count(STORE_REMOVED, of_kind.bytes, kind=kind)
