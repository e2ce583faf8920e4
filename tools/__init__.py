"""Tools for the people who work on the project. They read the code and are not in the wheel."""
