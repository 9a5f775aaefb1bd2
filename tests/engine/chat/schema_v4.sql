-- What version 4 added, as it was released: never change this file.
ALTER TABLE conversation ADD COLUMN pinned REAL;     -- since when it stands at the top; NULL: it does not
ALTER TABLE conversation ADD COLUMN archived REAL;   -- since when it is out of the way; NULL: it is not
ALTER TABLE conversation ADD COLUMN folder TEXT;     -- NULL: in none
ALTER TABLE conversation ADD COLUMN place REAL;      -- order by hand in its folder or among those at the top
ALTER TABLE conversation ADD COLUMN titled TEXT;     -- who gave the title: user, model; NULL: the first message

CREATE TABLE folder (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    created REAL NOT NULL,
    place REAL NOT NULL,             -- order by hand
    folded INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX message_deleted ON message (deleted) WHERE deleted IS NOT NULL;

CREATE TABLE text_index_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,        -- how words are made (search_text.VERSION)
    below INTEGER NOT NULL,          -- parts up to this number are not in the index yet
    debt INTEGER NOT NULL            -- words of removed texts lie in the index still: 1, 2 being removed
);
CREATE VIRTUAL TABLE text_index USING fts5 (text, content='', prefix='2 3', tokenize='unicode61 remove_diacritics 2');
INSERT INTO text_index_state (id, version, below, debt) SELECT 1, 1, coalesce(max(id), 0), 0 FROM part;
PRAGMA user_version = 4;
INSERT INTO migration VALUES (4, 'folders, pins, archive, search', 1700000003.0);
