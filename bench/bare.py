"""The shortest honest script for the same work: no durability, no failover, no store.

Draws every page, asks the model, and writes the text. MuPDF is not thread-safe, so pages are
drawn one at a time; the calls run beside each other. It prints what it took from opening the
document to the written file: its imports are not part of that. With `warm` it has built its client,
drawn a page and made a call before, as a long-running worker has.
"""

import asyncio
import base64
import io
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pymupdf as _pymupdf
from openai import AsyncOpenAI
from PIL import Image

from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT

pymupdf: Any = _pymupdf


def draw(page: Any) -> str:
    pixels = page.get_pixmap(dpi=100)
    image = Image.frombuffer("RGB", (pixels.width, pixels.height), pixels.samples_mv)
    out = io.BytesIO()
    image.save(out, "jpeg", quality=70)
    return base64.b64encode(out.getvalue()).decode()


async def ask(client: AsyncOpenAI, document: Any, number: int) -> str:
    url = f"data:image/jpeg;base64,{draw(document[number])}"
    answer = await client.chat.completions.create(
        model="gpt-6.1-sol",
        messages=[
            {"role": "system", "content": DEFAULT_SYSTEM_PROMPT},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": f"Transcribe page {number + 1}."},
                    {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
                ],
            },
        ],
    )
    return answer.choices[0].message.content or ""


async def read(client: AsyncOpenAI, source: Path, target: Path, slots: int) -> None:
    free = asyncio.Semaphore(slots)
    document = pymupdf.open(source)

    async def one(number: int) -> str:
        async with free:
            return await ask(client, document, number)

    texts = await asyncio.gather(*(one(number) for number in range(document.page_count)))
    target.write_text("\n\n".join(texts))


async def main(source: Path, target: Path, base_url: str, slots: int, *, warm: bool) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, timeout=60)
    if warm:
        with pymupdf.open(source) as document:
            await ask(client, document, 0)
        started, cpu = time.perf_counter(), time.process_time()
    await read(client, source, target, slots)
    took = {
        "seconds": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(took))


if __name__ == "__main__":
    source, target, base_url, slots, *how = sys.argv[1:]
    asyncio.run(main(Path(source), Path(target), base_url, int(slots), warm=how == ["warm"]))
