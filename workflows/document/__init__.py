"""A document, from its source to its text. Everything here is replayed."""
