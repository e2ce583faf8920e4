"""What a call cost, by the price list inside `genai-prices`; nothing is ever fetched."""

from quire.providers.tokens import Tokens


def cost_usd(
    provider: str, model: str, tokens: Tokens, base_url: str | None = None
) -> float | None:
    """US dollars, or None when no list price is known: a guess would be worse.

    The list is asked by base URL first and by the vendor's name second, so that a vendor's
    model behind a gateway is priced and a model of one's own is not.
    """
    # Imported here: it takes a quarter of a second and a worker without vendors never needs it.
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    usage = PricedUsage(
        input_tokens=tokens.read,
        output_tokens=tokens.written,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_written,
    )
    for where in ({"provider_api_url": base_url}, {"provider_id": provider}):
        if None in where.values():
            continue
        try:
            return float(calc_price(usage, model, **where).total_price)
        except Exception:  # noqa: S112 (a price list's quirk must not fail a page)
            continue
    return None
