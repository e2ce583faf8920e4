"""What activities share; none of these files is an activity."""
