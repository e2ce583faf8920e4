"""Rules about workers: who is alive, and what a job waits for."""
