"""The prose of the test documents, which the stand-in vendor reads from their pictures."""

WORDS = (
    "The harbour master keeps a careful log of every ship that enters the bay, and the log "
    "has been kept without a gap since the first stone of the quay was laid. Each entry names "
    "the vessel, her captain, the cargo she carries and the weather she came through. "
)
