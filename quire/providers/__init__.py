"""One model vendor a file, behind one small port."""
