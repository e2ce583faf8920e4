"""Random but possible routes, breakers, pages and snapshots.

Times are quarters of a second: sums of them are exact, so that a test can ask for equality.
"""

from typing import Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from quire.contracts.codes import FailureKind
from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER
from quire.contracts.page import Classification
from quire.contracts.routing import Breaker, BreakerPolicy, BreakerState, DispatchPolicy, Route
from quire.contracts.selection import FlightView, PageView, RouteView, Snapshot
from quire.contracts.steps import AttemptFailure

NOW = 1000.0
KINDS = tuple(FailureKind)
Role = Literal["none", "scanned", "every_page"]
# None: there is no local engine.
ROLES: list[Role | None] = [None, "none", "scanned", "every_page"]

# The local engine where vendors are configured.
OCR_INSTEAD = Route(
    provider=LOCAL_PROVIDER, model=LOCAL_MODEL, limit=1, last_resort_for="scanned", degrades=True
)

# The same examples every time: what is found here is found for everybody.
quick = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
thorough = settings(quick, max_examples=120)


def quarters(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(int(low * 4), int(high * 4)).map(lambda n: n / 4)


classifications = st.sampled_from([Classification.SCANNED, Classification.HAS_GRAPHICS])

breaker_policies = st.builds(
    BreakerPolicy,
    trip=st.sampled_from(["first", "window", "adaptive"]),
    base_backoff_s=quarters(1, 30),
    max_backoff_s=quarters(30, 300),
    window=st.integers(1, 8),
    threshold=st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    cooldown_s=st.none() | quarters(1, 60),
    window_s=st.none() | quarters(1, 200),
)

dispatch_policies = st.builds(
    DispatchPolicy,
    mode=st.sampled_from(["fail_fast", "hold", "adaptive"]),
    when_busy=st.sampled_from(["spill", "wait"]),
    window=st.integers(1, 12),
    max_rounds=st.integers(1, 4),
    base_delay_s=quarters(0.25, 10),
    jitter_max_s=quarters(0, 10),
    max_delay_s=st.none() | quarters(0.25, 20),
)

breakers = st.one_of(
    st.just(Breaker()),
    st.builds(
        Breaker,
        state=st.sampled_from(BreakerState),
        retry_at=quarters(NOW - 60, NOW + 60),
        failures=st.integers(0, 5),
        changes=st.integers(1, 9),
    ),
)


lines = st.one_of(
    st.just(Breaker()),
    st.builds(
        Breaker,
        state=st.sampled_from(BreakerState),
        retry_at=quarters(NOW - 60, NOW + 60),
        changes=st.integers(1, 9),
        streak=st.integers(0, 5),
        sort=st.sampled_from(["pace", "sick", "out"]),
        since=quarters(NOW - 30, NOW),
        last_answer=st.just(0.0) | quarters(NOW - 30, NOW),
        answered=st.booleans(),
        width=st.none() | st.integers(1, 3),
        learned=st.booleans(),
    ),
)


@st.composite
def chains(draw: st.DrawFn, *, least: int = 0, most: int = 4) -> tuple[Route, ...]:
    """Up to four routes of three providers, sometimes with a last resort at the end."""
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.sampled_from("mn")),
            min_size=least,
            max_size=most,
            unique=True,
        )
    )
    chain = [
        Route(
            provider=provider,
            model=model,
            limit=draw(st.integers(1, 3)),
            timeout_s=draw(quarters(0.25, 60)),
            ahead=draw(st.integers(0, 2)),
        )
        for provider, model in keys
    ]
    role = draw(st.sampled_from(ROLES))
    if role is not None:
        said = {"last_resort_for": role, "degrades": role != "none"}
        chain.append(OCR_INSTEAD.model_copy(update=said))
    return tuple(chain)


@st.composite
def snapshots(
    draw: st.DrawFn, policies: st.SearchStrategy[DispatchPolicy] = dispatch_policies
) -> Snapshot:
    """Any moment of a document, also ones that a well-behaved vendor never brings about."""
    chain = draw(chains())
    adaptive = draw(st.booleans())
    health = lines if adaptive else breakers
    of_provider = {route.provider: draw(health) for route in chain}
    times = st.lists(st.integers(0, 60_000), max_size=8).map(tuple) if adaptive else st.just(())
    views = tuple(
        RouteView(
            route=route,
            breaker=draw(health),
            provider_breaker=of_provider[route.provider],
            in_flight=draw(st.integers(0, 2 * route.limit)),
            crowded_until=draw(st.sampled_from([0.0, NOW, NOW + 2])),
            answered=draw(st.booleans()),
            latencies=draw(times),
            workers=draw(st.integers(1, 3)),
        )
        for route in chain
    )
    flights = [(i, n) for i, view in enumerate(views) for n in range(view.in_flight)]
    numbers = draw(st.lists(st.integers(1, 40), max_size=12, unique=True))
    return Snapshot(
        job_id=draw(st.sampled_from(["one", "two"])),
        now=NOW,
        deadline=NOW + draw(quarters(0.25, 120)),
        in_flight=sum(view.in_flight for view in views),
        policy=draw(policies),
        routes=views,
        pages=tuple(draw(pages(number, len(chain))) for number in sorted(numbers)),
        adaptive=adaptive,
        waiting=len(numbers) if adaptive else 0,
        # Pages in flight have other numbers than those that wait.
        flights=tuple(
            FlightView(
                page=100 + 10 * route + place,
                route=route,
                since=draw(quarters(NOW - 60, NOW)),
                barred=draw(st.sampled_from([(), (0,), (0, 1)])),
                hedged=draw(st.booleans()),
            )
            for route, place in flights
            if adaptive
        ),
        hedges_left=draw(st.integers(0, 3)) if adaptive else 0,
    )


@st.composite
def pages(draw: st.DrawFn, number: int, routes: int) -> PageView:
    barred = draw(st.sets(st.integers(0, routes - 1))) if routes else set()
    for_good = draw(st.sets(st.sampled_from(sorted(barred)))) if barred else set()
    return PageView(
        page=number,
        classification=draw(classifications),
        barred=tuple(sorted(barred)),
        barred_for_good=tuple(sorted(for_good)),
        round=draw(st.integers(0, 3)),
        not_before=draw(st.sampled_from([0.0, NOW, NOW + 3])),
        let_down_by=tuple(sorted(draw(st.sets(st.sampled_from(sorted(barred)))))) if barred else (),
    )


def failure(kind: FailureKind, retry_after_s: float | None = None) -> AttemptFailure:
    return AttemptFailure(kind=kind, message=f"{kind} happened", retry_after_s=retry_after_s)
