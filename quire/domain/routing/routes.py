"""Which models a page may be read by, in which order."""

from collections.abc import Mapping, Sequence
from typing import Literal

from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER
from quire.contracts.routing import Chain, ChainRequest, ProviderPlan, Route


def prepared_ahead(limit: int, rate: float | None = None) -> int:
    """How many attempts beyond its slots a worker takes up, so that their pages are drawn when
    slots fall free. As many again: slots that began together fall free together. None where calls
    are counted by the second: the server counts what it hands out, and that must be called now."""
    return limit if rate is None else 0


def build_chain(request: ChainRequest) -> Chain:
    """The chain for one document; local OCR is all of it when no vendor can be called."""
    routes: list[Route] = []
    left_out: dict[str, str] = {}
    for provider, model in _wanted(request):
        plan = request.providers.get(provider)
        missing = "unknown provider" if plan is None else plan.missing
        if not missing and not model:
            missing = f"no model is named for the tier {request.tier}"
        if provider == LOCAL_PROVIDER:
            missing = request.local_missing
        if missing:
            left_out[provider] = f"{provider} is left out: {missing}"
            continue
        timeout = plan.timeout_s if plan else request.local_timeout_s
        local = provider == LOCAL_PROVIDER
        limit = request.local_limit if local else request.limit
        rate = None if local else request.rate
        route = Route(
            provider=provider,
            model=model,
            limit=limit,
            timeout_s=timeout,
            ahead=prepared_ahead(limit, rate),
            rate=rate,
        )
        if route not in routes:
            routes.append(route)
    routes.extend(_local(request, have_routes=routes))
    serving = {route.provider for route in routes}
    reasons = tuple(left_out[name] for name in sorted(left_out) if name not in serving)
    return Chain(routes=tuple(routes), left_out=reasons)


def _wanted(request: ChainRequest) -> Sequence[tuple[str, str]]:
    if request.engine == LOCAL_PROVIDER:
        return [(LOCAL_PROVIDER, LOCAL_MODEL)]
    if request.explicit:
        pairs = [(p, m) for p, _, m in (entry.partition(":") for entry in request.explicit)]
        # A stable sort: an engine asked for comes first, the rest keeps its order.
        return sorted(pairs, key=lambda p: request.engine_asked and p[0] != request.engine)
    wanted = [
        (request.engine, _model(request.providers, request.engine, request.tier)),
        (request.engine, _model(request.providers, request.engine, "secondary")),
    ]
    if request.other_engine and request.other_engine != request.engine:
        other = request.other_engine
        wanted.append((other, _model(request.providers, other, request.tier)))
    return wanted


def _model(providers: Mapping[str, ProviderPlan], provider: str, tier: str) -> str:
    if provider == LOCAL_PROVIDER:
        return LOCAL_MODEL
    models = providers[provider].models if provider in providers else {}
    return models.get(tier) or models.get("primary", "")


def _local(request: ChainRequest, have_routes: Sequence[Route]) -> list[Route]:
    if request.local_ocr == "never" or request.local_missing:
        return []
    if any(route.provider == LOCAL_PROVIDER for route in have_routes):
        return []
    role: Literal["none", "scanned", "every_page"] = "none"
    if have_routes:
        role = "every_page" if request.local_ocr == "always" else "scanned"
    return [
        Route(
            provider=LOCAL_PROVIDER,
            model=LOCAL_MODEL,
            limit=request.local_limit,
            timeout_s=request.local_timeout_s,
            last_resort_for=role,
            ahead=prepared_ahead(request.local_limit),
            degrades=bool(have_routes),
        )
    ]
