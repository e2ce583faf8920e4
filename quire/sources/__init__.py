"""The origins of documents: files, web servers, buckets."""
