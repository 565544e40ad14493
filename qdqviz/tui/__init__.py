"""The terminal app: walk through a trace, or watch one being recorded."""
