"""Rules about metadata and structure, one idea a module; `qdqviz.check.lint` runs them."""
