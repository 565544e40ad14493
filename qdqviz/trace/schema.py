"""The file format: one SQLite database, recognizable and versioned."""

from __future__ import annotations

APPLICATION_ID = 0x71647176
"""`qdqv`, in the database header of every trace."""

VERSION = 4
"""Schema version in `user_version`; a file of another one is refused."""

TABLES = """
CREATE TABLE info(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE subjects(id INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE states(subject INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL,
                    PRIMARY KEY(subject, seq)) WITHOUT ROWID;
CREATE TABLE runs(id INTEGER PRIMARY KEY, data TEXT NOT NULL, attempts BLOB, foci TEXT);
CREATE TABLE groups(seq INTEGER PRIMARY KEY, subject INTEGER NOT NULL, run INTEGER NOT NULL,
                    step INTEGER, after_step INTEGER NOT NULL, head TEXT NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX groups_step ON groups(step) WHERE step IS NOT NULL;
CREATE TABLE sites(id INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE sources(file TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE ops(target TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;
"""
"""`groups` holds rewrites (step set) and settling changes (step NULL) in the order they happened;
`states` holds a subject's first state at seq 0 and checkpoints after the group of that seq."""
