"""A graph at one instant. No torch here: what the recorder saw, as plain values."""
