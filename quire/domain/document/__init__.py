"""The rules of one document."""
