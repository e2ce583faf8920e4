"""The rules of a batch of documents."""
