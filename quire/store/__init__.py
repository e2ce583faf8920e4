"""What is kept: objects by content, surveys, documents and results."""
