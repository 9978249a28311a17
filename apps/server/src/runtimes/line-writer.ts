import type { Writable } from 'node:stream'

/**
 * Writes the lines of one turn of the event loop at once: a write for each line would cost more than the line. A
 * process that ends writes what waits, but only `taken` waits for a slow reader.
 */
export function createLineWriter(stream: Pick<Writable, 'write'>) {
  let waiting = ''
  function flush(): void {
    if (waiting !== '') stream.write(waiting)
    waiting = ''
  }
  process.on('exit', flush)
  return {
    write(line: string): void {
      if (waiting === '') setImmediate(flush)
      waiting += `${line}\n`
    },
    /** Resolves when the reader has taken every line, or is gone. */
    taken(): Promise<void> {
      flush()
      // The callback of a write comes after those before it, and with an error if the stream is broken.
      return new Promise((resolve) => stream.write('', () => resolve()))
    },
  }
}
