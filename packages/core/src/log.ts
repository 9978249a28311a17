/** The severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes one line: a sentence, and facts to search by. Never bodies, secrets or personal data. */
export type Logger = (level: LogLevel, message: string, facts?: Record<string, unknown>) => void

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
/** The more severe of two. */
export const louder = (one: LogLevel, other: LogLevel) =>
  LEVELS.indexOf(one) < LEVELS.indexOf(other) ? other : one
/** Many collectors of logs split longer lines. In characters. */
const MAX_LINE_LENGTH = 16_000
/** Longest message, and longest facts, of a line that would be longer. Each character may become an escape of six. */
const MAX_PART_LENGTH = 1_200
/** Longest text in a problem, and in an entry of a deployment's log. */
const MAX_TEXT_LENGTH = 4_000

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
  const least = LEVELS.indexOf(minimum)
  return (level, message, facts) => {
    if (LEVELS.indexOf(level) < least) return
    const head = { time: new Date().toISOString(), level }
    const line = escapeInvisible(JSON.stringify({ ...head, message, ...facts }))
    if (line.length <= MAX_LINE_LENGTH) return write(line)
    const [shorter, cut] = [cutText(message, MAX_PART_LENGTH), cutData(facts, MAX_PART_LENGTH)]
    write(escapeInvisible(JSON.stringify({ ...head, message: shorter, ...cut })))
  }
}

const PRINTABLE = /^[\t\n\x20-\x7e]*$/
const INVISIBLE = /[^\P{Cc}\t\n]|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/**
 * Escapes the characters that could end a line, or change how a terminal shows it: control characters, and those
 * that are invisible or turn the direction of writing. Tabs and `\n` stay.
 */
export function escapeInvisible(text: string): string {
  // Nearly every text, and found out in a tenth of the time.
  if (PRINTABLE.test(text)) return text
  const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replaceAll(INVISIBLE, toEscape)
}

/** Cuts a text that is too long, and marks the place. Redact it first: half a secret would not be recognised. */
export function cutText(text: string, most = MAX_TEXT_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (cut: ${text.length} characters)`
}

/** Data whose JSON is too long becomes a part of this JSON. */
export function cutData(
  data: Record<string, unknown> | undefined,
  most = 2 * MAX_TEXT_LENGTH,
): Record<string, unknown> | undefined {
  const json = JSON.stringify(data ?? {})
  return json.length <= most ? data : { part: cutText(json, most) }
}

/** Masks the mail addresses in a text, because an error may end up in a log. */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text
  return text.replaceAll(/[^\s<>,;()"]+/g, (word) => {
    if (!word.includes('@')) return word
    return word.endsWith('.') ? '[address].' : '[address]'
  })
}
