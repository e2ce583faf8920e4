"""py-zerox as a script uses it; it runs in py-zerox' own environment.

Besides the Markdown file that the library writes, its result is kept as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

from pyzerox import zerox  # type: ignore[import-not-found]


async def main(pdf: str, out: str, model: str, slots: str) -> None:
    result = await zerox(file_path=pdf, model=model, output_dir=out, concurrency=int(slots))
    pages = [{"page": page.page, "content": page.content} for page in result.pages]
    (Path(out) / "result.json").write_text(json.dumps({"pages": pages}, indent=1))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
