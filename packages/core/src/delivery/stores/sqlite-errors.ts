const DISK_FAILS = 'the disk can’t be read or written'
const DISK_IS_FULL = 'the disk is full'
const LOCKED = 'another process has locked it'
/** Causes that pass without a change to the host. */
const PASSING: readonly unknown[] = [DISK_FAILS, DISK_IS_FULL, LOCKED]

/** The causes by SQLite's primary result code, by an extended one, and by the code of a file system error. */
const causes: Readonly<Record<string, string>> = {
  5: LOCKED,
  8: 'the host may not write to it',
  10: DISK_FAILS,
  11: 'it is damaged',
  13: DISK_IS_FULL,
  14: 'the host can’t open it, or may not write in its folder',
  26: 'it is no SQLite database',
  // SQLITE_IOERR_SHMSIZE: the index of the write-ahead log could not grow.
  4874: DISK_IS_FULL,
  EACCES: 'the host may not write in its folder',
  EISDIR: 'the host can’t open it, or may not write in its folder',
  EEXIST: 'its folder is a file',
  EDQUOT: DISK_IS_FULL,
  EIO: DISK_FAILS,
  ENOENT: 'its folder can’t be created',
  ENOSPC: DISK_IS_FULL,
  ENOTDIR: 'its folder is a file',
  EPERM: 'the host may not write in its folder',
  EROFS: 'the file system is read-only',
}

function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  // The lower byte of an extended code is the primary one.
  if ('errcode' in error && typeof error.errcode === 'number')
    return causes[error.errcode] ?? causes[error.errcode & 0xff]
  return 'code' in error && typeof error.code === 'string' ? causes[error.code] : undefined
}

/** Whether another process has locked the file. */
export function isLocked(error: unknown): boolean {
  return causeOf(error) === LOCKED
}

/** Whether a later try may succeed: the file is locked, or the disk is full or fails. */
export function mayPass(error: unknown): boolean {
  return PASSING.includes(causeOf(error))
}

/** Says in plain words why a file can't be used. */
export function explain(error: unknown, file: string): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `The store ${file} can’t be used: ${causeOf(error) ?? reason}.`
}
