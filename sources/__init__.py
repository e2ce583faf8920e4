"""Where documents come from: files, folders of page images, URLs and buckets."""
