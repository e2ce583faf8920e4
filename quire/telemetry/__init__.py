"""Logs, health, traces, metrics."""
