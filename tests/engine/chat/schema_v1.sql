-- The database of version 1 as the first release made it, with a conversation in it. Never change this file.
CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied REAL NOT NULL);
CREATE TABLE conversation (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    tip TEXT,
    deleted REAL
);
CREATE INDEX conversation_deleted ON conversation (deleted) WHERE deleted IS NOT NULL;
CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    parent TEXT REFERENCES message (id) DEFERRABLE INITIALLY DEFERRED,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    created REAL NOT NULL,
    model TEXT,
    settings TEXT,
    stats TEXT,
    finish TEXT,
    error TEXT
);
CREATE INDEX message_conversation ON message (conversation, seq);
CREATE INDEX message_parent ON message (parent);
CREATE INDEX message_streaming ON message (status) WHERE status = 'streaming';
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    message TEXT NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (message, position)
);
INSERT INTO migration VALUES (1, 'conversations, message tree, parts', 1700000000.0);
INSERT INTO conversation VALUES ('c1', 'What does GTT mean?', 1700000000.0, 1700000100.0, 'a2', NULL);
INSERT INTO message VALUES (1, 'q1', 'c1', NULL, 'user', 'done', 1700000000.0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (2, 'a1', 'c1', 'q1', 'assistant', 'done', 1700000001.0, 'SmolLM2 135M',
    '{"sampling":{"temperature":0.7,"top_k":40,"top_p":0.95,"min_p":0.05,"repeat_penalty":1.0,"repeat_last_n":64,"seed":null},"max_tokens":null,"n_ctx":4096}',
    '{"prompt_tokens":12,"cached_tokens":0,"generated_tokens":9,"ttft_ms":65.0,"prefill_tps":180.5,"decode_tps":120.25}',
    'stop', NULL);
INSERT INTO message VALUES (3, 'a2', 'c1', 'q1', 'assistant', 'failed', 1700000050.0, 'SmolLM2 135M', NULL, NULL, NULL, 'The engine stopped.');
INSERT INTO part VALUES (1, 'q1', 0, 'text', 'What does GTT mean?');
INSERT INTO part VALUES (2, 'a1', 0, 'text', 'Graphics translation table.');
INSERT INTO part VALUES (3, 'a2', 0, 'text', 'Graphics tr');
PRAGMA user_version = 1;
