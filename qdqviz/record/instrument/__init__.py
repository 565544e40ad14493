"""Observe the decisions of pass code, by recompiling its functions in place while a recording is on."""
