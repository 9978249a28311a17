/**
 * The tables and statements of the SQLite store.
 *
 * @module
 */

/** A subject is one record. Steps and answers have tables of their own: each is written and read alone. */
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

const HELD = 'subject = :subject AND owner = :owner AND fence = :fence AND lease_until > :now'

/** The statements, by the operation that they are part of. */
export const SQL = {
  claim: `
    INSERT INTO subjects (subject, fence, owner, lease_until, delivery, digest, taken_over, claimed, expires)
    SELECT :subject, 1, :owner, :until, :delivery, :digest, 0, :now, :expires
    WHERE NOT EXISTS (
      SELECT 1 FROM answers WHERE subject = :subject AND delivery = :delivery AND expires > :now
    )
    ON CONFLICT (subject) DO UPDATE SET
      fence = fence + 1,
      taken_over = owner IS NOT NULL AND subjects.expires > :now,
      owner = excluded.owner,
      lease_until = excluded.lease_until,
      delivery = excluded.delivery,
      digest = excluded.digest,
      claimed = excluded.claimed,
      expires = MAX(subjects.expires, excluded.expires)
    WHERE owner IS NULL OR lease_until <= :now
    RETURNING fence, taken_over`,
  deleteExpiredSteps: `
    DELETE FROM steps WHERE subject = :subject AND EXISTS
      (SELECT 1 FROM subjects WHERE subject = :subject AND expires <= :now AND lease_until <= :now)`,
  renew: `UPDATE subjects SET lease_until = :until WHERE ${HELD}`,
  isHeld: `SELECT 1 FROM subjects WHERE ${HELD}`,
  recordAnswer: `
    INSERT OR REPLACE INTO answers (subject, delivery, digest, status, code, at, body, expires)
    SELECT subject, delivery, digest, :status, :code, :at, :body, :expires FROM subjects
    WHERE ${HELD} AND delivery IS NOT NULL`,
  complete: `UPDATE subjects SET owner = NULL, lease_until = 0, digest = NULL, expires = :expires WHERE ${HELD}`,
  release: `UPDATE subjects SET owner = NULL, lease_until = 0, digest = NULL WHERE ${HELD}`,
  readSubject: `
    SELECT fence, owner, lease_until, delivery, digest, claimed, expires FROM subjects
    WHERE subject = :subject AND (expires > :now OR (owner IS NOT NULL AND lease_until > :now))`,
  readAnswer: `
    SELECT digest, status, code, at, body FROM answers
    WHERE subject = ? AND delivery = ? AND expires > ?`,
  listAnswers: 'SELECT delivery, status, code, at FROM answers WHERE subject = ? AND expires > ?',
  writeStep: 'INSERT OR REPLACE INTO steps (subject, name, value) VALUES (?, ?, ?)',
  readSteps: 'SELECT name, value FROM steps WHERE subject = ?',
  deleteSteps: 'DELETE FROM steps WHERE subject = ?',
} as const
