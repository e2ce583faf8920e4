"""A batch of documents, from its list of sources to its files. Everything here is replayed."""
