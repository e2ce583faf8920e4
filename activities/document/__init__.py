"""The activities of a document."""
