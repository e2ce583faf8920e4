"""Activities of the watch over all documents."""
