-- What version 2 added, as it was released. Comes after schema_v1.sql. Never change this file.
CREATE TABLE draft (
    conversation TEXT NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (conversation, position)
);
INSERT INTO migration VALUES (2, 'drafts', 1700000200.0);
INSERT INTO draft VALUES ('', 0, 'A new thought');
INSERT INTO draft VALUES ('c1', 0, 'And VRAM?');
INSERT INTO draft VALUES ('c1', 1, 'a long log');
PRAGMA user_version = 2;
