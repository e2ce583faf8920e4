"""`make bench-text`: how true the text is, beside other tools, into docs/benchmarks/text.md."""

import argparse
import tempfile
from pathlib import Path

from bench.machine import facts
from bench.progress import print_progress
from bench.text.corpus import CORPUS, corpus_pages
from bench.text.pages import generated, write_document
from bench.text.readers import CannotRead, Texts, readers
from bench.text.report import markdown
from bench.text.speed import TIMED, measure_speeds
from testing.tool import ROOT


def main() -> None:
    """Make the pages, let every tool read them, write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="three pages of each kind")
    parser.add_argument("--before", type=Path, help="a source tree of an older Quire")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="real documents, if any")
    parser.add_argument("--report", type=Path, default=ROOT / "docs/benchmarks/text.md")
    arguments = parser.parse_args()
    tools = readers(arguments.before)
    pages = [*generated(full=arguments.full), *corpus_pages(arguments.corpus)]
    languages = [page.language for page in pages]
    machine = facts()
    read: list[Texts] = []
    left_out: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        pdf = Path(folder) / "pages.pdf"
        write_document(pages, pdf)
        for reader in tools:
            print_progress(f"{reader.name}: {len(pages)} pages")
            try:
                read.append(Texts(reader.name, reader.read(pdf, languages)))
            except CannotRead as reason:
                left_out.append(f"{reader.name}: {reason}")
        speeds = measure_speeds([tool for tool in tools if tool.name in TIMED], pages, Path(folder))
    report = markdown(pages, read, speeds, left_out, machine)
    arguments.report.write_text(report, encoding="utf-8")
    print_progress(f"written: {arguments.report}")


if __name__ == "__main__":
    main()
