"""How one document will be read: decided once, at its start, from request and settings."""

from quire.contracts.document import DocumentRequest
from quire.contracts.names import LOCAL_PROVIDER, setting_name
from quire.contracts.plan import DocumentPlan, PlanDefaults
from quire.contracts.reading import ReadingOptions, TextOptions
from quire.contracts.routing import BreakerPolicy, Chain, ChainRequest, DispatchPolicy, Trip
from quire.domain import errors
from quire.domain.document.deadline import LOCAL_PAGE_S
from quire.domain.document.prompt import PROMPT_VERSION
from quire.domain.routing.routes import build_chain

# So many pages are surveyed first, and models are asked for them while the rest is surveyed.
SURVEY_HEAD = 25
# Of the rules in `quire/domain/layout/`: local answers of other versions are not used again.
TEXT_VERSION = 3


def chain_request(request: DocumentRequest, defaults: PlanDefaults) -> ChainRequest:
    """The chain that this request asks for."""
    engine = request.engine or defaults.engine
    other = defaults.other_engine if engine == defaults.engine else defaults.engine
    return ChainRequest(
        engine=engine,
        engine_asked=request.engine is not None,
        tier=request.tier,
        other_engine=other,
        explicit=defaults.route_chain,
        providers=defaults.providers,
        local_ocr=defaults.local_ocr,
        local_missing=defaults.local_missing,
        limit=defaults.limit,
        rate=defaults.rate,
        local_limit=defaults.local_limit,
        local_timeout_s=defaults.local_timeout_s,
    )


def make_plan(
    request: DocumentRequest, defaults: PlanDefaults, *, run_id: str = ""
) -> DocumentPlan:
    """How this document will be read; `run_id` sets a forced run's answers apart."""
    refuse_unusable_engine(request.engine, defaults)
    reading = ReadingOptions(
        image=defaults.image,
        system_prompt=defaults.system_prompt,
        instructions=request.instructions,
        context_radius=defaults.context_radius,
        context_bytes=defaults.context_bytes,
        salt=run_id if request.force else "",
        prompt_version=PROMPT_VERSION,
        text=TextOptions(version=TEXT_VERSION, hyphens=defaults.hyphens),
    )
    chain = build_chain(chain_request(request, defaults))
    return DocumentPlan(
        chain=chain,
        deadline_s=request.deadline_s or defaults.deadline_s,
        breaker=breaker_policy(request, defaults),
        dispatch=dispatch_policy(request, defaults),
        reading=reading,
        every_page=defaults.every_page,
        survey_head=SURVEY_HEAD,
        page_s=_page_s(chain, asked=defaults.deadline_given or request.deadline_s is not None),
    )


def _page_s(chain: Chain, *, asked: bool) -> float:
    """What a page adds to the deadline: nothing where a person asked for one, or a vendor reads."""
    alone = {route.provider for route in chain.routes} == {LOCAL_PROVIDER}
    return LOCAL_PAGE_S if alone and not asked else 0.0


def breaker_policy(request: DocumentRequest, defaults: PlanDefaults) -> BreakerPolicy:
    """The settings' policy, with the trip that the request's mode stands for."""
    if request.mode is None:
        return defaults.breaker
    trip: Trip = "first" if request.mode == "fail_fast" else "adaptive"
    return defaults.breaker.model_copy(update={"trip": trip})


def dispatch_policy(request: DocumentRequest, defaults: PlanDefaults) -> DispatchPolicy:
    """The settings' policy, with what the request says of it."""
    said: dict[str, str] = {}
    if request.mode is not None:
        said["mode"] = request.mode
    if request.one_model:
        said["when_busy"] = "wait"
    return defaults.dispatch.model_copy(update=said)


def refuse_unusable_engine(engine: str | None, defaults: PlanDefaults) -> None:
    """An engine that was asked for by name and cannot be called is an error, not a detour."""
    if engine is None:
        return
    if engine == LOCAL_PROVIDER:
        missing = defaults.local_missing
    elif engine in defaults.providers:
        plan = defaults.providers[engine]
        named = any(entry.startswith(f"{engine}:") for entry in defaults.route_chain)
        missing = plan.missing
        if not missing and not plan.models and not named:
            missing = f"no model is named: set {setting_name(engine, 'primary_model')}"
    else:
        known = ", ".join(sorted([*defaults.providers, LOCAL_PROVIDER]))
        missing = f"it is not one of {known}"
    if missing:
        raise errors.engine_unavailable(engine, missing=missing)
