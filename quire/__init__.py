"""Quire turns documents into faithful text with vision models, and always finishes."""
