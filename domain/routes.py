"""Which models a page may be read by, in which order."""

from collections.abc import Mapping, Sequence
from typing import Literal

from domain.contracts import LOCAL_PROVIDER, Classification, Wire

LOCAL_MODEL = "rapidocr"
# "A moment": how long an attempt may wait for a slot that other documents hold.
MOMENT_S = 3.0
Tier = Literal["primary", "secondary", "fast"]


class Route(Wire):
    """One model of one provider, with the limits it is used under."""

    provider: str
    model: str
    limit: int = 2
    timeout_s: float = 60.0
    # A last resort is tried only when every other route of the page has failed or rests.
    last_resort_for: Literal["none", "scanned", "every_page"] = "none"
    # Attempts that a worker takes up beyond the limit; none in plans from before there were any.
    ahead: int = 0

    @property
    def key(self) -> str:
        return f"{self.provider}:{self.model}"

    def serves(self, classification: Classification) -> bool:
        """Is this route in the chain of such a page at all?"""
        return self.last_resort_for != "scanned" or classification is Classification.SCANNED

    @property
    def is_last_resort(self) -> bool:
        return self.last_resort_for != "none"


def prepared_ahead(limit: int) -> int:
    """How many attempts beyond its slots a worker takes up, so that their pages are drawn when
    slots fall free. As many again: slots that began together fall free together."""
    return limit


class ProviderPlan(Wire):
    """What one provider offers, as configured on the worker."""

    models: dict[str, str]
    timeout_s: float = 60.0
    # Why its routes must be left out; empty when it can be called.
    missing: str = ""


class ChainRequest(Wire):
    """All that decides a chain."""

    engine: str
    # The engine was asked for by name, and is not just the default.
    engine_asked: bool = False
    tier: Tier = "primary"
    other_engine: str = ""
    explicit: tuple[str, ...] = ()
    providers: dict[str, ProviderPlan]
    local_ocr: Literal["auto", "always", "never"] = "auto"
    local_missing: str = ""
    limit: int = 2
    local_limit: int = 1
    local_timeout_s: float = 120.0


class Chain(Wire):
    """The routes in order, and what was left out and why."""

    routes: tuple[Route, ...]
    left_out: tuple[str, ...] = ()


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
        limit = request.local_limit if provider == LOCAL_PROVIDER else request.limit
        route = Route(
            provider=provider,
            model=model,
            limit=limit,
            timeout_s=timeout,
            ahead=prepared_ahead(limit),
        )
        if route not in routes:
            routes.append(route)
    routes.extend(_local(request, have_routes=routes))
    serving = {route.provider for route in routes}
    said = tuple(left_out[name] for name in sorted(left_out) if name not in serving)
    return Chain(routes=tuple(routes), left_out=said)


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
        )
    ]
