"""Watches torch.fx while passes run and writes a trace. The only place that patches torch."""
