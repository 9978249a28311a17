/** The version of the layout below, as `PRAGMA user_version`. */
export const LAYOUT = 3
/** The unit of the indexes by expiry, in milliseconds: a completion leaves them as they are. */
export const HOUR_MS = 3_600_000

/**
 * A subject is one row, with the answer to its last delivery. Earlier answers and steps have tables of their own: each
 * is written and read alone.
 */
export const SCHEMA: string = `
  CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    -- The start of its SHA-256.
    subject BLOB NOT NULL,
    fence INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    -- Empty if the subject ends with it.
    delivery TEXT,
    digest BLOB,
    claimed INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    status INTEGER,
    code TEXT,
    -- Milliseconds after the claim.
    answered INTEGER,
    body ANY,
    -- Null if it is the expiry of the record.
    answer_expires INTEGER
  ) STRICT;
  -- A part of the subject is enough to find it.
  CREATE INDEX records_by_subject ON records (substr(subject, 1, 6));
  CREATE INDEX records_by_expiry ON records (expires / ${HOUR_MS});
  CREATE TABLE answers (
    record INTEGER NOT NULL,
    delivery TEXT NOT NULL,
    digest BLOB NOT NULL,
    fence INTEGER NOT NULL,
    status INTEGER NOT NULL,
    code TEXT,
    at INTEGER,
    body ANY NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (record, delivery)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX answers_by_expiry ON answers (expires / ${HOUR_MS});
  CREATE TABLE steps (
    record INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (record, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER record_removed AFTER DELETE ON records BEGIN
    DELETE FROM answers WHERE record = old.id;
    DELETE FROM steps WHERE record = old.id;
  END;
  CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  PRAGMA user_version = ${LAYOUT};
`
