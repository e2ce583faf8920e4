"""How far a page's text can be believed, and which of its texts is the better one: pure rules."""
