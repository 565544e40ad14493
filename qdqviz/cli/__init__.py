"""The command line: one module and one class per subcommand (see `qdqviz.cli.registry`)."""
