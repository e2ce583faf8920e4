"""The composition root: settings -> store and providers -> activities -> workers.

`worker.py` and the embedded mode of `starter.py` both build from here, so that a document is
read by the same parts on one machine and on many.
"""
