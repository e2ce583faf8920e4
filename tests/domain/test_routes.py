"""The chain of a document: which models, in which order, and what was left out."""

from typing import Any

import pytest

from quire.contracts.codes import Code
from quire.contracts.document import DocumentRequest
from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER
from quire.contracts.page import Classification
from quire.contracts.plan import PlanDefaults
from quire.contracts.routing import (
    BreakerPolicy,
    ChainRequest,
    DispatchPolicy,
    Mode,
    ProviderPlan,
    Route,
    Trip,
)
from quire.domain.document.plan import chain_request, make_plan
from quire.domain.errors import DocumentRefused
from quire.domain.routing.routes import build_chain

OPENAI = ProviderPlan(models={"primary": "big", "secondary": "mid", "fast": "tiny"}, timeout_s=40)
ANTHROPIC = ProviderPlan(models={"primary": "sonnet", "secondary": "opus", "fast": "haiku"})
BOTH = {"openai": OPENAI, "anthropic": ANTHROPIC}


def request(**fields: Any) -> ChainRequest:
    return ChainRequest(
        **{"engine": "openai", "other_engine": "anthropic", "providers": BOTH, **fields}
    )


def keys(**fields: Any) -> list[str]:
    return [route.key for route in build_chain(request(**{"local_ocr": "never", **fields})).routes]


def without_key(plan: ProviderPlan, name: str) -> ProviderPlan:
    return plan.model_copy(update={"missing": f"{name}_API_KEY is not set"})


@pytest.mark.parametrize(
    ("tier", "chain"),
    [
        ("primary", ["openai:big", "openai:mid", "anthropic:sonnet"]),
        ("secondary", ["openai:mid", "anthropic:opus"]),
        ("fast", ["openai:tiny", "openai:mid", "anthropic:haiku"]),
    ],
)
def test_tiers(tier: str, chain: list[str]) -> None:
    assert keys(tier=tier) == chain


def test_same_model_twice_is_one_route() -> None:
    same = ProviderPlan(models={"primary": "big", "secondary": "big"})
    assert keys(providers={**BOTH, "openai": same}) == ["openai:big", "anthropic:sonnet"]


def test_same_engine_twice_is_one_engine() -> None:
    assert keys(other_engine="openai") == ["openai:big", "openai:mid"]


def test_tier_without_a_model_is_the_primary_one() -> None:
    small = ProviderPlan(models={"primary": "only"})
    assert keys(tier="fast", providers={**BOTH, "openai": small})[0] == "openai:only"


def test_missing_credentials_are_left_out_and_said_once() -> None:
    providers = {**BOTH, "openai": without_key(OPENAI, "OPENAI")}
    chain = build_chain(request(providers=providers, local_ocr="never"))
    assert [route.key for route in chain.routes] == ["anthropic:sonnet"]
    assert chain.left_out == ("openai is left out: OPENAI_API_KEY is not set",)


def test_routes_carry_their_limits() -> None:
    chain = build_chain(request(limit=7, local_limit=3, local_timeout_s=99.0)).routes
    assert [(r.limit, r.timeout_s) for r in chain] == [(7, 40), (7, 40), (7, 60), (3, 99)]


def test_explicit_chain_keeps_its_order_with_an_engine_asked_for_first() -> None:
    explicit = ("anthropic:x", "openai:y", "anthropic:z", "openai:w")
    assert keys(explicit=explicit) == list(explicit)
    assert keys(explicit=explicit, engine_asked=True) == [
        "openai:y",
        "openai:w",
        "anthropic:x",
        "anthropic:z",
    ]


def test_explicit_chain_is_cleaned_too() -> None:
    providers = {**BOTH, "anthropic": without_key(ANTHROPIC, "ANTHROPIC")}
    chain = build_chain(
        request(
            explicit=("openai:y", "openai:y", "anthropic:z", "anthropic:x", "nobody:m"),
            providers=providers,
            local_ocr="never",
        )
    )
    assert [route.key for route in chain.routes] == ["openai:y"]
    assert chain.left_out == (
        "anthropic is left out: ANTHROPIC_API_KEY is not set",
        "nobody is left out: unknown provider",
    )


def test_explicit_model_names_may_hold_colons() -> None:
    assert keys(explicit=("openai:ft:gpt:me",)) == ["openai:ft:gpt:me"]


@pytest.mark.parametrize("models", [{}, {"primary": ""}])
def test_engine_without_a_model_is_left_out_and_said(models: dict[str, str]) -> None:
    providers = {**BOTH, "openai": ProviderPlan(models=models)}
    chain = build_chain(request(providers=providers, tier="fast", local_ocr="never"))
    assert [route.key for route in chain.routes] == ["anthropic:haiku"]
    assert chain.left_out == ("openai is left out: no model is named for the tier fast",)


def test_other_engine_without_a_model_is_left_out_and_said() -> None:
    providers = {**BOTH, "anthropic": ProviderPlan(models={})}
    chain = build_chain(request(providers=providers, local_ocr="never"))
    assert [route.key for route in chain.routes] == ["openai:big", "openai:mid"]
    assert chain.left_out == ("anthropic is left out: no model is named for the tier primary",)


def test_missing_key_is_told_before_a_missing_model() -> None:
    bare = without_key(ProviderPlan(models={}), "OPENAI")
    chain = build_chain(request(providers={**BOTH, "openai": bare}, local_ocr="never"))
    assert chain.left_out == ("openai is left out: OPENAI_API_KEY is not set",)


@pytest.mark.parametrize(
    ("models", "tier"), [({"fast": "t"}, "fast"), ({"secondary": "s"}, "primary")]
)
def test_engine_with_a_route_is_not_said_to_be_left_out(models: dict[str, str], tier: str) -> None:
    providers = {"openai": ProviderPlan(models=models)}
    chain = build_chain(request(providers=providers, other_engine="", tier=tier, local_ocr="never"))
    assert len(chain.routes) == 1
    assert chain.left_out == ()


# --- local OCR -----------------------------------------------------------------------------


def local_of(**fields: Any) -> Route | None:
    routes = build_chain(request(**fields)).routes
    found = [route for route in routes if route.provider == LOCAL_PROVIDER]
    assert len(found) <= 1
    assert not found or routes[-1] is found[0]
    return found[0] if found else None


def test_local_is_the_last_resort_for_scans() -> None:
    local = local_of()
    assert local is not None
    assert local.last_resort_for == "scanned"
    assert local.serves(Classification.SCANNED)
    assert not local.serves(Classification.HAS_GRAPHICS)


def test_local_always_is_the_last_resort_for_every_page() -> None:
    local = local_of(local_ocr="always")
    assert local is not None
    assert local.last_resort_for == "every_page"
    assert all(local.serves(classification) for classification in Classification)


@pytest.mark.parametrize("local_ocr", ["auto", "always"])
def test_local_is_the_whole_chain_when_no_vendor_can_be_called(local_ocr: str) -> None:
    providers = {
        "openai": without_key(OPENAI, "OPENAI"),
        "anthropic": without_key(ANTHROPIC, "ANTHROPIC"),
    }
    chain = build_chain(request(providers=providers, local_ocr=local_ocr))
    assert [route.key for route in chain.routes] == [f"{LOCAL_PROVIDER}:{LOCAL_MODEL}"]
    assert not chain.routes[0].is_last_resort
    assert chain.routes[0].serves(Classification.HAS_GRAPHICS)
    assert len(chain.left_out) == 2


@pytest.mark.parametrize(
    ("fields", "degrades"),
    [
        ({}, True),
        ({"local_ocr": "always"}, True),
        ({"engine": LOCAL_PROVIDER}, False),
        ({"other_engine": LOCAL_PROVIDER}, False),
        ({"explicit": ("openai:y", "local:rapidocr")}, False),
        ({"providers": {}}, False),
    ],
    ids=str,
)
def test_local_degrades_where_it_stands_in_for_vendors(
    fields: dict[str, Any], degrades: bool
) -> None:
    """By choice, as an ordinary route of a chain or without any vendor, it does not."""
    routes = build_chain(request(**fields)).routes
    assert [route.degrades for route in routes if route.provider == LOCAL_PROVIDER] == [degrades]
    assert not any(route.degrades for route in routes if route.provider != LOCAL_PROVIDER)


def test_local_never_and_local_not_installed() -> None:
    assert local_of(local_ocr="never") is None
    assert local_of(local_missing="not installed") is None


@pytest.mark.parametrize(
    "fields",
    [
        {"engine": LOCAL_PROVIDER},
        {"other_engine": LOCAL_PROVIDER},
        {"explicit": ("openai:y", "local:rapidocr")},
    ],
    ids=str,
)
def test_local_that_is_missing_is_left_out_and_said(fields: dict[str, Any]) -> None:
    chain = build_chain(request(**fields, local_ocr="never", local_missing="LOCAL_OCR is never"))
    assert all(route.provider != LOCAL_PROVIDER for route in chain.routes)
    assert chain.left_out == ("local is left out: LOCAL_OCR is never",)


def test_local_asked_for_by_name_is_alone() -> None:
    chain = build_chain(request(engine=LOCAL_PROVIDER))
    assert [route.key for route in chain.routes] == ["local:rapidocr"]
    assert not chain.routes[0].is_last_resort


def test_local_in_an_explicit_chain_is_a_route_like_any_other() -> None:
    chain = build_chain(request(explicit=("openai:y", "local:rapidocr")))
    assert [route.key for route in chain.routes] == ["openai:y", "local:rapidocr"]
    assert not chain.routes[1].is_last_resort


# --- the plan ------------------------------------------------------------------------------


def defaults(**fields: Any) -> PlanDefaults:
    return PlanDefaults(
        **{
            "engine": "openai",
            "other_engine": "anthropic",
            "providers": BOTH,
            "system_prompt": "read",
            **fields,
        }
    )


def asked(**fields: Any) -> DocumentRequest:
    return DocumentRequest(job_id="job", source="/a.pdf", **fields)


@pytest.mark.parametrize(
    ("engine", "first", "other"),
    [
        (None, "openai", "anthropic"),
        ("openai", "openai", "anthropic"),
        ("anthropic", "anthropic", "openai"),
    ],
)
def test_engine_asked_for_makes_the_other_the_other(
    engine: str | None, first: str, other: str
) -> None:
    chain = chain_request(asked(engine=engine), defaults())
    assert (chain.engine, chain.other_engine) == (first, other)


def test_third_engine_has_the_usual_one_behind_it() -> None:
    providers = {**BOTH, "deep": ProviderPlan(models={"primary": "vl"})}
    plan = make_plan(asked(engine="deep"), defaults(providers=providers, local_ocr="never"))
    assert [route.key for route in plan.chain.routes] == ["deep:vl", "openai:big"]


@pytest.mark.parametrize(
    ("engine", "fields", "words"),
    [
        ("nobody", {}, "anthropic, local, openai"),
        (
            "openai",
            {"providers": {**BOTH, "openai": without_key(OPENAI, "OPENAI")}},
            "OPENAI_API_KEY is not set",
        ),
        ("local", {"local_missing": "not installed"}, "not installed"),
    ],
)
def test_unusable_engine_asked_for_by_name_is_refused(
    engine: str, fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(DocumentRefused, match=words) as refused:
        make_plan(asked(engine=engine), defaults(**fields))
    assert refused.value.info.code is Code.GW_4XX


def test_unusable_default_engine_is_a_detour_that_is_told() -> None:
    providers = {**BOTH, "openai": without_key(OPENAI, "OPENAI")}
    plan = make_plan(asked(), defaults(providers=providers))
    assert plan.chain.routes[0].key == "anthropic:sonnet"
    assert len(plan.chain.left_out) == 1


def test_request_decides_before_settings() -> None:
    plan = make_plan(asked(deadline_s=9.0, instructions="ISO dates"), defaults(deadline_s=180.0))
    assert plan.deadline_s == 9.0
    assert plan.reading.instructions == "ISO dates"
    assert make_plan(asked(), defaults(deadline_s=77.0)).deadline_s == 77.0


def test_only_a_forced_run_has_answers_of_its_own() -> None:
    assert make_plan(asked(), defaults(), run_id="run").reading.salt == ""
    assert make_plan(asked(force=True), defaults(), run_id="run").reading.salt == "run"


@pytest.mark.parametrize(
    ("mode", "trip"), [("adaptive", "adaptive"), ("fail_fast", "first"), ("hold", "adaptive")]
)
def test_mode_of_a_request_stands_for_trip_and_dispatch(mode: Mode, trip: Trip) -> None:
    """Whatever the settings say; and their other knobs stay as they are."""
    own = defaults(
        breaker=BreakerPolicy(trip="window", base_backoff_s=7.0),
        dispatch=DispatchPolicy(mode="hold" if mode != "hold" else "fail_fast", window=9),
    )
    plan = make_plan(asked(mode=mode), own)
    assert plan.breaker == BreakerPolicy(trip=trip, base_backoff_s=7.0)
    assert plan.dispatch == DispatchPolicy(mode=mode, window=9)
    silent = make_plan(asked(), own)
    assert (silent.breaker, silent.dispatch) == (own.breaker, own.dispatch)


def test_one_model_waits_for_its_own_route() -> None:
    assert make_plan(asked(one_model=True), defaults()).dispatch.when_busy == "wait"
    wait = defaults(dispatch=DispatchPolicy(when_busy="wait"))
    assert make_plan(asked(), wait).dispatch.when_busy == "wait", "not asked for is not refused"


def test_request_without_a_mode_is_written_as_it_was() -> None:
    """Workers of before refuse fields that they do not know."""
    assert not {"mode", "one_model"} & set(asked().model_dump())
