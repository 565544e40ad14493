"""From a trace to sentences: what a rewrite did, and why a pass did or did not fire. No torch here."""
