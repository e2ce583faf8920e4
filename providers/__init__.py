"""One model vendor a file, behind one small protocol (`protocol.py`)."""
