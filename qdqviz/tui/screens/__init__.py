"""The screens: each mediates between its panes and the data."""
