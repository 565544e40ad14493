"""From what an attempt asked to the guard that turned it down: event tree, source, replay, blame."""
