"""The Python API: a blocking client and an asynchronous one, over the same use cases."""
