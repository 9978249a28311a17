/**
 * The port for the host's own log, and a default that writes JSON lines.
 *
 * @module
 */

/** How important a line is. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes one line: a sentence, and facts to search by. Never bodies, secrets or personal data. */
export type Logger = (level: LogLevel, message: string, facts?: Record<string, unknown>) => void

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/**
 * A logger that writes one JSON object per line to standard output.
 *
 * @param level lines below it are dropped
 * @default level 'info'
 */
export function createJsonLogger(
  level: LogLevel = 'info',
  write: (line: string) => void = console.log,
): Logger {
  return (lineLevel, message, facts) => {
    if (ORDER.indexOf(lineLevel) < ORDER.indexOf(level)) return
    write(JSON.stringify({ time: new Date().toISOString(), level: lineLevel, message, ...facts }))
  }
}
