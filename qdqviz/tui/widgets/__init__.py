"""The panes and bars of the terminal app; each draws what it is given and posts what was done to it."""
