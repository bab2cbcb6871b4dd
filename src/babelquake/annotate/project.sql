-- The tables of a project file.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE tuples (
  id TEXT PRIMARY KEY, segment TEXT NOT NULL, source TEXT NOT NULL, reference TEXT NOT NULL,
  language_pair TEXT NOT NULL, document TEXT NOT NULL, place INTEGER NOT NULL, systems TEXT NOT NULL,
  texts TEXT NOT NULL, groups TEXT NOT NULL
) STRICT;
CREATE INDEX tuples_by_document ON tuples (document, place);
CREATE TABLE annotators (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE, created REAL NOT NULL, revoked REAL
) STRICT;
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY, hit TEXT NOT NULL, copy INTEGER NOT NULL, annotator INTEGER REFERENCES annotators (id),
  assigned REAL, finished REAL, withdrawn REAL, UNIQUE (hit, copy)
) STRICT;
CREATE INDEX tasks_by_annotator ON tasks (annotator, finished);
CREATE TABLE items (
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks (id), place INTEGER NOT NULL,
  tuple TEXT NOT NULL REFERENCES tuples (id), type TEXT NOT NULL, texts TEXT NOT NULL, sides TEXT NOT NULL,
  suggestions TEXT NOT NULL, suggested INTEGER, UNIQUE (task, place)
) STRICT;
CREATE TABLE ratings (
  item INTEGER PRIMARY KEY REFERENCES items (id), annotator INTEGER NOT NULL REFERENCES annotators (id),
  answer TEXT NOT NULL, seconds REAL, at REAL NOT NULL
) STRICT;
