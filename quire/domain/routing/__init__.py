"""Which model reads a page, and when."""
