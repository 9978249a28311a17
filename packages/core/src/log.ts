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
  const least = LEVELS.indexOf(minimum)
  return (level, message, facts) => {
    if (LEVELS.indexOf(level) < least) return
    const line = limitLine(message, facts)
    write(escapeInvisible(JSON.stringify({ time: new Date(), level, message: line.message, ...line.facts })))
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
  return PRINTABLE.test(text) ? text : text.replaceAll(INVISIBLE, toEscape)
}

const toEscape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
const ESCAPE_LENGTH = 6

/** Longest text in a log line or a problem. */
const MAX_TEXT_LENGTH = 4_000
/** Characters of a line, with escapes and without the marks of what is cut. */
const MAX_LINE_LENGTH = 14_000

/** Cuts a text that is too long, and marks the place. Redact it first: half a secret would not be recognised. */
export function cutText(text: string, most = MAX_TEXT_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most))}… (cut: ${text.length} characters)`
}

/** The message and the facts of a line, cut so that the line has at most 16,000 characters. */
export function limitLine<Facts extends Record<string, unknown> | undefined>(message: string, facts: Facts) {
  if (isShort(message, facts)) return { message, facts }
  let left = MAX_LINE_LENGTH

  function limitText(text: string): string {
    const width = /[\\"\p{C}\u2028\u2029]/u.test(text) ? ESCAPE_LENGTH : 1
    const cut = cutText(text, Math.min(MAX_TEXT_LENGTH, Math.floor(left / width)))
    left -= Math.min(text.length, cut.length) * width
    return cut
  }

  function limitFields(fields: Record<string, unknown>): Record<string, unknown> {
    const kept: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(fields)) {
      left -= ESCAPE_LENGTH
      if (left <= 0) return { ...kept, '…': `cut: ${Object.keys(fields).length} fields` }
      // A list or an object of a line that is too long becomes its text.
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value
      kept[limitText(name)] = typeof text === 'string' ? limitText(text) : text
    }
    return kept
  }

  return { message: limitText(message), facts: facts && limitFields(facts) }
}

/** Whether no line of these can be too long. Most are so, and need no copy. */
function isShort(message: string, facts: Record<string, unknown> = {}): boolean {
  let length = message.length
  for (const name in facts) {
    const value = facts[name]
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    length +=
      name.length +
      (typeof value === 'object' && PRINTABLE.test(text) ? text.length / ESCAPE_LENGTH : text.length)
  }
  return length * ESCAPE_LENGTH <= MAX_LINE_LENGTH
}
