"""From a target on the command line to a program in memory."""
