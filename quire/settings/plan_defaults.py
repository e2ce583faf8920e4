"""What a document's plan takes from the settings.

Apart from the settings themselves, since a command that starts no document needs none of it.
"""

from quire.contracts.plan import PlanDefaults
from quire.contracts.reading import ImageOptions
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, ProviderPlan
from quire.settings.provider import missing
from quire.settings.settings import Settings


def defaults_from_settings(
    settings: Settings, *, local_missing: str, local_limit: int
) -> PlanDefaults:
    """What a document's plan takes from the settings."""
    window = settings.circuit_window
    return PlanDefaults(
        engine=settings.primary_engine,
        other_engine=settings.secondary_engine,
        providers={
            name: ProviderPlan(
                models=own.models, timeout_s=settings.timeout_of(name), missing=missing(name, own)
            )
            for name, own in settings.providers.items()
        },
        route_chain=settings.route_chain,
        local_ocr=settings.local_ocr,
        local_missing="LOCAL_OCR is never" if settings.local_ocr == "never" else local_missing,
        limit=settings.max_inflight_per_model,
        rate=settings.max_rate_per_model,
        local_limit=local_limit,
        local_timeout_s=max(120.0, settings.request_timeout),
        deadline_s=settings.document_processing_timeout,
        deadline_given="document_processing_timeout" in settings.model_fields_set,
        breaker=BreakerPolicy(
            trip=settings.breaker_trip,
            base_backoff_s=settings.breaker_base_backoff,
            max_backoff_s=settings.breaker_max_backoff,
            window=window if isinstance(window, int) else BreakerPolicy().window,
            threshold=settings.circuit_fail_threshold,
            cooldown_s=settings.circuit_cooldown,
            window_s=None if isinstance(window, int) else window.total_seconds(),
        ),
        dispatch=DispatchPolicy(
            mode=settings.dispatch_mode,
            when_busy=settings.when_busy,
            window=settings.page_window,
            max_rounds=settings.retry_max_attempts,
            base_delay_s=settings.retry_base_delay,
            jitter_max_s=settings.retry_jitter_max,
            max_delay_s=settings.retry_max_delay,
        ),
        image=ImageOptions(
            dpi=settings.image_dpi,
            color=settings.image_color,
            format=settings.image_format,
            jpeg_quality=settings.image_jpeg_quality,
            min_pixels=settings.image_min_pixels,
            max_pixels=settings.image_max_pixels,
        ),
        system_prompt=settings.ai_system_prompt,
        context_radius=settings.image_context_radius,
        context_bytes=settings.image_max_context_bytes,
        every_page=settings.image_send_all_pages,
        hyphens=settings.hyphens,
    )
