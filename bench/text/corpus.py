"""Pages of real documents, drawn as scans: their own text layer, read in order, is the truth."""

from collections.abc import Iterator
from pathlib import Path

from bench.text.pages import TextPage
from quire.domain.layout.letters import resolve_ligatures
from testing.pdfs import pymupdf

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
# Prose whose layers were drawn in the order of reading.
PAGES = (
    ("born_digital_text/multicolumn.pdf", 0),
    ("born_digital_text/multi-column-2p.pdf", 0),
    ("born_digital_text/pdflatex-4-pages.pdf", 1),
    ("born_digital_text/Judgement_Document.pdf", 1),
    ("born_digital_text/fake-memo.pdf", 0),
)


def corpus_pages(folder: Path = CORPUS, dpi: int = 200) -> Iterator[TextPage]:
    """The pages that are at hand; none where there is no corpus."""
    for name, number in PAGES:
        if not (folder / name).is_file():
            continue
        with pymupdf.open(folder / name) as document, pymupdf.open() as scan:
            page = document[number]
            truth = resolve_ligatures(page.get_text())
            pixels = page.get_pixmap(dpi=dpi)
            sheet = scan.new_page(width=page.rect.width, height=page.rect.height)
            sheet.insert_image(sheet.rect, stream=pixels.tobytes("jpeg", jpg_quality=85))
            title = f"{Path(name).stem}, page {number + 1}"
            yield TextPage(title, "corpus, scanned", truth, (), bytes(scan.tobytes()))
