"""Runs graph states on real inputs: equal or not, which rewrite broke it, what the metadata says."""
