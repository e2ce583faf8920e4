"""vlm4ocr as a script uses it; it runs in vlm4ocr's own environment.

Its Python API rather than its command, to its favour: the command writes nothing at all when one
page fails. The result's pages with their errors are kept as JSON.
"""

import asyncio
import json
import sys
from pathlib import Path

from vlm4ocr import OCREngine, OpenAIVLMEngine  # type: ignore[import-not-found]


async def main(pdf: str, out: str, model: str, url: str, slots: str) -> None:
    engine = OpenAIVLMEngine(model=model, base_url=url, api_key="none")
    ocr = OCREngine(engine, output_mode="markdown", pdf_backend="pypdfium2")
    async for result in ocr.concurrent_ocr([pdf], concurrent_batch_size=int(slots)):
        (Path(out) / f"{result.filename}.md").write_text(result.to_string())
        errors = [page.error and str(page.error) for page in result.pages]
        outcome = {"status": result.status, "errors": errors}
        (Path(out) / "result.json").write_text(json.dumps(outcome, indent=1))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6]))
