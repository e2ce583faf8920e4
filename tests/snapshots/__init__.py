"""What must stay as it is while code moves: wire and stored types, names, keys, settings, commands.

Each JSON file here was recorded once and is compared with what the code says today. Classes are
named by labels of their own (`types.py`), so a class may be renamed and a module moved: then only
imports change here.
"""
