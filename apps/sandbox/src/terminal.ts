/**
 * Where the sandbox prints to: the width of a line, and colours where they are wanted.
 *
 * @module
 */
import { styleText } from 'node:util'

/** How a piece of text looks. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A place to print to. */
export interface Terminal {
  write(text: string): void
  writeError(text: string): void
  /** Longest line, in characters. */
  width: number
  colours: boolean
}

/** A piece of a line, with its looks. */
export type Piece = string | readonly [Style, string]

const DEFAULT_WIDTH = 100
const NARROWEST = 40

/** The process's own terminal. */
export function processTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  return {
    write: (text) => stdout.write(text),
    writeError: (text) => stderr.write(text),
    width: Math.max(NARROWEST, stdout.columns ?? DEFAULT_WIDTH),
    // https://no-color.org
    colours: stdout.isTTY === true && !env.NO_COLOR,
  }
}

/** Colours the pieces of one line. Control characters, which an answer might bring along, become visible. */
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

/** Cuts a text off where it is too long. */
export function truncate(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Cuts a text off in front, where its end says more. */
export function truncateStart(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `…${characters.slice(characters.length - width + 1).join('')}`
}

/**
 * Breaks a text between words.
 *
 * @param most lines; what is over is cut off
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

/** Whether a line may end at a space: it is not far from full, or the word behind fits into the next line. */
function breaksWell(text: string, space: number, width: number): boolean {
  const [word = ''] = text.slice(space + 1).split(' ', 1)
  return space > width / 2 || (space > 0 && [...word].length <= width)
}
