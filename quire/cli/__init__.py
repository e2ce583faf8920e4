"""The person's tool."""
