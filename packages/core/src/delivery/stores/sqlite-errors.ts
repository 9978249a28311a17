/** The causes by SQLite's primary result code, and by the code of a file system error. */
const causes: Readonly<Record<string, string>> = {
  5: 'another process has locked it',
  8: 'the host may not write to it',
  10: 'the disk can’t be read or written',
  11: 'it is damaged',
  13: 'the disk is full',
  14: 'the host can’t open it, or may not write in its folder',
  26: 'it is no SQLite database',
  EACCES: 'the host may not write in its folder',
  EISDIR: 'the host can’t open it, or may not write in its folder',
  EEXIST: 'its folder is a file',
  ENOENT: 'its folder can’t be created',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'its folder is a file',
  EPERM: 'the host may not write in its folder',
  EROFS: 'the file system is read-only',
}

/** The lower byte of an error code is the primary one. */
function codeOf(error: unknown): string | number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether another process has locked the file. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === 5
}

/** Says in plain words why a file can't be used. */
export function explain(error: unknown, file: string): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `The store ${file} can’t be used: ${causes[codeOf(error) ?? ''] ?? reason}.`
}
