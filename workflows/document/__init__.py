"""A document, from its origin to its text. Everything here is replayed."""
