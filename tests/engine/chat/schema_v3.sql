-- What version 3 added, as it was released. Never changed.
ALTER TABLE conversation ADD COLUMN settings TEXT;
ALTER TABLE message ADD COLUMN thought_s REAL;
ALTER TABLE message ADD COLUMN deleted REAL;
PRAGMA user_version = 3;
