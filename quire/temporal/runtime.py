"""The SDK's runtime: where its core's logs and metrics go."""

import logging
from datetime import timedelta
from functools import cache

from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from quire.domain.errors import SettingsError
from quire.domain.workers.live_workers import BEAT_S
from quire.settings import Settings
from quire.telemetry.metrics import ALL

CORE_LOGGER = "temporalio.core"


@cache
def quiet_runtime() -> Runtime:
    """For a person's terminal or program: the SDK's core, with its logs for operators, is silent.

    One for the process: each has threads of its own, and its end can crash the process while calls
    of it are under way.
    """
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(filter=TelemetryFilter(core_level="OFF", other_level="OFF"))
        ),
        worker_heartbeat_interval=None,
    )


def worker_runtime(settings: Settings) -> Runtime:
    """For a worker: the core's logs go into the worker's log, and its metrics, if
    `METRICS_ADDRESS` is set, to one endpoint with the worker's own."""
    # By default the core would write coloured lines of its own past the log.
    logs = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(
            logger=logging.getLogger(CORE_LOGGER),
            append_target_to_name=False,
            prepend_target_on_message=False,
            append_log_fields_to_message=False,
        ),
    )
    metrics = PrometheusConfig(
        bind_address=settings.metrics_address,
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides={
            measure.name: measure.buckets for measure in ALL if measure.buckets
        },
    )
    try:
        return Runtime(
            telemetry=TelemetryConfig(
                logging=logs,
                metrics=metrics if settings.metrics_address else None,
                global_tags={"service_name": "quire-worker"},
                attach_service_name=False,
            ),
            # Who asks about a job must learn within seconds that its worker is gone.
            worker_heartbeat_interval=timedelta(seconds=BEAT_S),
        )
    except ValueError as error:
        raise SettingsError(
            "METRICS_ADDRESS", f"nothing can listen there ({error})", "a free address"
        ) from None
