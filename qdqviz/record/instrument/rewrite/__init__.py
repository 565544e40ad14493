"""Rewrite the syntax tree of a module so that its functions report their decisions."""
