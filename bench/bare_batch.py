"""The shortest honest script for many documents: a loop without durability, failover or a store.

`text` takes MuPDF's text of every page, in as many processes as there are cores; `vision` draws
every page and asks the model, so many calls at once over all documents. It prints the seconds.
"""

import asyncio
import json
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from openai import AsyncOpenAI

from bench.bare import ask, pymupdf


def text_of(source: Path, target: Path) -> None:
    with pymupdf.open(source) as document:
        target.write_text("\n\n".join(page.get_text() for page in document))


def read_texts(sources: list[Path], folder: Path) -> None:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(text_of, sources, [folder / f"{s.stem}.txt" for s in sources], chunksize=8))


async def read_pages(sources: list[Path], folder: Path, base_url: str, slots: int) -> None:
    client = AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, timeout=60)
    free, at_once = asyncio.Semaphore(slots), asyncio.Semaphore(slots)

    async def document(source: Path) -> None:
        async with at_once:
            opened = pymupdf.open(source)

            async def page(number: int) -> str:
                async with free:
                    return await ask(client, opened, number)

            texts = await asyncio.gather(*(page(n) for n in range(opened.page_count)))
            (folder / f"{source.stem}.txt").write_text("\n\n".join(texts))

    await asyncio.gather(*(document(source) for source in sources))


def main(kind: str, sources: Path, folder: Path, base_url: str, slots: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = [sources] if sources.is_file() else sorted(sources.glob("*.pdf"))
    started = time.perf_counter()
    if kind == "text":
        read_texts(found, folder) if len(found) > 1 else text_of(found[0], folder / "text.txt")
    else:
        asyncio.run(read_pages(found, folder, base_url, slots))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": time.perf_counter() - started, "peak_bytes": peak}))


if __name__ == "__main__":
    kind, source, target, url, slots = sys.argv[1:]
    main(kind, Path(source), Path(target), url, int(slots))
