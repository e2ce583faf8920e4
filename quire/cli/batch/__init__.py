"""The commands of batches: `quire batch start`, `status`, `watch`, ..."""
