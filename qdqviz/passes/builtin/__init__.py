"""The built-in passes: one file a pass, each written to be read.

Every guard is a small predicate that is true when the pass must leave its hands off; the first line of its
docstring is the reason, which is what a reader is shown who asks why a rewrite did not happen. The
predicates that several passes share stand in `quantization`, `data_movement`, `users` and `placement`; the
tools below them know no pass: `ops` (names of ops, whatever the dialect), `sizes`, `values` (what an op
would compute), `metadata`, `channels` (where a channel dimension goes).
"""
