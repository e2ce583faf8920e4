"""Both vendors' providers in front of one stand-in."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from quire.domain.document.transcription import PageImage, PageQuestion
from quire.providers.model_provider import ModelProvider, open_provider
from testing.vendor import StandIn

SECRET = "sk-ant-0123456789-very-secret"
Make = Callable[..., ModelProvider]


@pytest.fixture(scope="session")
def _vendor() -> Iterator[StandIn]:
    with StandIn() as vendor:
        yield vendor


@pytest.fixture
def vendor(_vendor: StandIn) -> StandIn:
    _vendor.reset()
    return _vendor


@pytest.fixture
def question() -> PageQuestion:
    image = PageImage(
        data=b"\xff\xd8" + bytes(998), media_type="image/jpeg", width=827, height=1169
    )
    return PageQuestion(image, "Transcribe faithfully.", "This is page 7 with marker-7.")


@pytest.fixture(params=["openai", "anthropic"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def make(vendor: StandIn, api: str) -> AsyncIterator[Make]:
    """Build a provider of the test's vendor; closed at its end."""
    made: list[ModelProvider] = []

    def build(key: str | None = SECRET, url: str | None = None, **more: Any) -> ModelProvider:
        own_url = vendor.openai_url if api == "openai" else vendor.anthropic_url
        provider = open_provider(api, key, url or own_url, **more)
        made.append(provider)
        return provider

    yield build
    for provider in made:
        await provider.close()


@pytest.fixture
async def provider(make: Make) -> ModelProvider:
    provider = make()
    await provider.warm_up()
    return provider
