"""Pictures of graph states: laid out by Graphviz, drawn in character cells, SVG and PNG. No torch here."""
