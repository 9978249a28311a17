/** A subject is one record. Steps and responses have tables of their own: each is written and read alone. */
export const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 1000;
  CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT PRIMARY KEY,
    fence INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    delivery TEXT,
    digest TEXT,
    -- Not used any more, but files of an earlier version require it.
    taken_over INTEGER NOT NULL,
    claimed INTEGER NOT NULL DEFAULT 0,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS steps (
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (subject, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS subjects_by_expiry ON subjects (expires);
  CREATE TABLE IF NOT EXISTS answers (
    subject TEXT NOT NULL,
    delivery TEXT NOT NULL,
    digest TEXT NOT NULL,
    status INTEGER NOT NULL,
    code TEXT,
    at INTEGER,
    body TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (subject, delivery)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS answers_by_expiry ON answers (expires);
`

/** The columns that a file of an earlier version lacks. */
export const LATER_COLUMNS = [
  ['subjects', 'claimed', 'INTEGER NOT NULL DEFAULT 0'],
  ['answers', 'code', 'TEXT'],
  ['answers', 'at', 'INTEGER'],
] as const
