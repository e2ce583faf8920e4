"""How pages are shown to a model.

Written into the plan by `plan_document`; read by `recognize_page`, and part of answers' keys."""

from typing import Literal

from pydantic import Field

from quire.contracts.base import Wire, is_false


class ImageOptions(Wire):
    """How a page is drawn for a model."""

    dpi: int = 100
    color: Literal["rgb", "gray"] = "rgb"
    format: Literal["jpeg", "png", "webp"] = "jpeg"
    jpeg_quality: int = 70
    # Pixels of a page, between which `dpi` yields to small paper and to a scan's own resolution.
    # Zero, as in plans from before there were such limits: by `dpi` alone.
    min_pixels: int = Field(default=0, exclude_if=is_false)
    max_pixels: int = Field(default=0, exclude_if=is_false)


# What becomes of words that the end of a line has torn apart.
Hyphens = Literal["join", "keep"]


class TextOptions(Wire):
    """How text is written that was read without a vendor: the text layer, and local OCR.

    The defaults are those of plans from before there were such options."""

    # The rules of order, letters and hyphens; raise it with any change of what they give.
    version: int = 1
    hyphens: Hyphens = "keep"


class ReadingOptions(Wire):
    """All that shapes a model's answer besides page and route; part of every answer's key."""

    image: ImageOptions = ImageOptions()
    system_prompt: str
    instructions: str = ""
    context_radius: int = 1
    context_bytes: int = 3000
    # Set by a forced run: its answers then have keys of their own, and an interrupted forced
    # run still never buys a page twice.
    salt: str = ""
    # The wording around the page. Version 1 is written as the absence of one, so that answers
    # bought before there were versions keep their keys.
    prompt_version: int = Field(default=1, exclude_if=lambda version: version == 1)
    # Part of the keys of local answers only: a vendor's answer is not bought again for it.
    text: TextOptions = Field(
        default=TextOptions(), exclude_if=lambda options: options == TextOptions()
    )
