"""The content-addressed store: objects in a folder or S3, documents, surveys, results."""
