"""The watch over all documents."""
