/** The terminal: the width of its lines, and its colours. */
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

export function processTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  return {
    write: (text) => stdout.write(text),
    writeError: (text) => stderr.write(text),
    width: Math.max(NARROWEST, stdout.columns ?? DEFAULT_WIDTH),
    // https://no-color.org
    colours: stdout.isTTY === true && !env.NO_COLOR,
  }
}

/** Colours the pieces of one line, cuts what has no room, and makes control characters visible. */
export function paint(pieces: readonly Piece[], { colours, width }: Terminal): string {
  let room = width
  return pieces
    .map((piece) => {
      const [style, given] = typeof piece === 'string' ? [undefined, piece] : piece
      const text = room > 0 ? truncate(given.replaceAll(/\p{Cc}/gu, '·'), room) : ''
      room -= [...text].length
      return colours && style ? styleText(style, text, { validateStream: false }) : text
    })
    .join('')
}

/** Breaks a text between words. `most`: the number of lines; the last one is cut. */
export function wrap(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = []
  let rest = [...text]
  while (rest.length > width && lines.length < most - 1) {
    const space = rest.slice(0, width + 1).lastIndexOf(' ')
    // A word that is too long is cut.
    const end = space > width / 2 ? space : width
    lines.push(rest.slice(0, end).join('').trimEnd())
    rest = [...rest.slice(end).join('').trimStart()]
  }
  return [...lines, truncate(rest.join(''), width)]
}
