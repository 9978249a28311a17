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
    write(
      escapeInvisible(
        JSON.stringify({ time: new Date().toISOString(), level: lineLevel, message, ...facts }),
      ),
    )
  }
}

/**
 * A line of JSON without characters that could end it, or paint over it in a terminal. JSON escapes control
 * characters below U+0020; the others, and those that turn the direction of writing, it leaves as they are.
 */
export function escapeInvisible(line: string): string {
  return line.replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
