"""The activities of a batch of documents."""
