"""Passes: the built-in ones, and the catalogue that turns a name into a pass ready to run.

`catalogue` answers "which passes are there" without importing any; `resolve` imports the few that were asked
for.
"""
