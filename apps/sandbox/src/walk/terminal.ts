/**
 * The terminal: the width of its lines, and its colours.
 *
 * @module
 */
import { styleText } from 'node:util'
import { truncate } from '../world/text.ts'

/** The style of a text. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** The target of all output. */
export interface Terminal {
  write(text: string): void
  writeError(text: string): void
  /** The length of a line, in characters. */
  width: number
  colours: boolean
}

/** A part of a line, with its style. */
export type Piece = string | readonly [Style, string]

const DEFAULT_WIDTH = 100
const NARROWEST = 40

/** The terminal of the process. */
export function processTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  return {
    write: (text) => stdout.write(text),
    writeError: (text) => stderr.write(text),
    width: Math.max(NARROWEST, stdout.columns ?? DEFAULT_WIDTH),
    // https://no-color.org
    colours: stdout.isTTY === true && !env.NO_COLOR,
  }
}

/** Colours the pieces of one line, and makes control characters visible. */
export function paint(pieces: readonly Piece[], { colours }: Pick<Terminal, 'colours'>): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return visible(piece)
      const [style, text] = piece
      return colours ? styleText(style, visible(text), { validateStream: false }) : visible(text)
    })
    .join('')
}

function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '·')
}

/**
 * Breaks a text between words.
 *
 * @param most the number of lines; the last one is cut
 */
export function wrap(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = []
  let rest = text
  while ([...rest].length > width && lines.length < most - 1) {
    const head = [...rest].slice(0, width + 1).join('')
    const space = head.lastIndexOf(' ')
    const end = breaksWell(rest, space, width) ? space : [...rest].slice(0, width).join('').length
    lines.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return [...lines, truncate(rest, width)]
}

/** A line may end at a space if it is at least half full, or if the next word fits into the next line. */
function breaksWell(text: string, space: number, width: number): boolean {
  const [word = ''] = text.slice(space + 1).split(' ', 1)
  return space > width / 2 || (space > 0 && [...word].length <= width)
}
