"""A trace with its program: what runs passes, and what can run a graph again."""
