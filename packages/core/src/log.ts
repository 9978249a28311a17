/** The severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes one line: a sentence, and facts to search by. Never bodies, secrets or personal data. */
export type Logger = (level: LogLevel, message: string, facts?: Record<string, unknown>) => void

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/**
 * Makes a logger that writes one JSON object per line.
 *
 * @param minimum drops the lines below this level
 * @param write writes one line, by default to standard output
 */
export function createJsonLogger(
  minimum: LogLevel = 'info',
  write: (line: string) => void = console.log,
): Logger {
  return (level, message, facts) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minimum)) return
    write(escapeInvisible(JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })))
  }
}

/**
 * Escapes the characters of a JSON line that could end it, or change how a terminal shows it: control
 * characters above U+007E, which JSON leaves as they are, and those that turn the direction of writing.
 */
export function escapeInvisible(line: string): string {
  return line.replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Longest text in a log line or a problem. */
const MAX_TEXT_LENGTH = 4_000

/** Cuts a text that is too long, and marks the place. Redact it first: half a secret would not be recognised. */
export function cutText(text: string, most = MAX_TEXT_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (cut: ${text.length} characters)`
}
