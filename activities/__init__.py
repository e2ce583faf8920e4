"""Each activity does one thing to the world, and can be repeated."""
