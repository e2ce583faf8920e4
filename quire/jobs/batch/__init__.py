"""What people can ask of batches."""
