"""Logs, health endpoints and traces; metrics go through the meters of Temporal's SDK."""
