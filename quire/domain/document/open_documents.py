"""What open documents need of the store."""

from dataclasses import dataclass

from quire.domain.document.keys import document_of


@dataclass(frozen=True)
class OpenDocuments:
    """The jobs that are not done, and the documents of those that have come so far."""

    jobs: frozenset[str] = frozenset()
    # By their hash; also the lists of page images from which documents are made.
    documents: frozenset[str] = frozenset()

    def need(self, key: str) -> bool:
        """Whether an object of the store is one of theirs. Briefs are named by nothing of a
        document: they must be asked for their job."""
        kind = key.partition("/")[0]
        return kind != "quarantine" and document_of(key) in self.documents
