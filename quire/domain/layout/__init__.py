"""From pieces of text scattered over a page to text in the order a person reads it: pure rules."""
