"""Order and waiting; the rules are in domain/."""
