/** Prints a run: a line for each walk, the steps that fail, and the events that follow. */
import { styleText } from 'node:util'
import type { Exchange } from '../world/exchange.ts'
import { at } from '../world/json.ts'
import { createMask } from '../world/mask.ts'
import { truncate } from '../world/text.ts'
import type { World } from '../world/world.ts'
import type { Walk } from './walks.ts'

/** The target of all output. */
export interface Terminal {
  write(text: string): void
  colours: boolean
}

/** How many steps had which outcome. */
export interface Tally {
  passed: number
  failed: number
}

/** The result of a run. */
export type Summary = Tally & { durationMs: number }

/** What came of a step. */
export interface Report {
  exchange?: Exchange
  /** What is wrong. */
  failure?: readonly string[]
}

/** Prints the parts of a run. */
export type Printer = ReturnType<typeof createPrinter>

type Style = Parameters<typeof styleText>[0]
/** A part of a line, with its style. */
type Piece = string | readonly [Style, string]

const LONGEST = 500

/** Makes the printer of one run. */
export function createPrinter(terminal: Terminal, world: World) {
  const mask = createMask(world.secrets)

  /** Writes a line without secrets, control characters and endless data. */
  function line(...pieces: Piece[]): void {
    const painted = pieces.map((piece) => {
      const [style, text] = typeof piece === 'string' ? [undefined, piece] : piece
      const shown = truncate(mask({ text }).text, LONGEST).replaceAll(/\p{Cc}/gu, '·')
      return terminal.colours && style ? styleText(style, shown, { validateStream: false }) : shown
    })
    terminal.write(`${painted.join('')}\n`)
  }

  function printExchange({ route, request: { body }, response, durationMs, source }: Exchange): void {
    const { status, replayed } = response
    const called = at(body, 'functionCall', 'name') ?? at(body, 'download', 'file')
    const names = [`/${route}`, at(body, 'name'), called, at(body, 'deployment', 'id')]
    const outcome = [status, status >= 400 && at(response.body, 'code'), replayed && 'replayed']
    const took = `${Math.round(durationMs)} ms${source ? '' : ', from outside'}`
    const words = (parts: unknown[]) => parts.filter(Boolean).join(' ')
    line(
      '  • ',
      words(names),
      [status < 400 ? 'green' : 'yellow', ` → ${words(outcome)}`],
      ['dim', `  ${took}`],
    )
  }

  return {
    opening(): void {
      line(['bold', 'The sandbox'], ['dim', ': a platform, its events, and the host that acts on them'])
    },

    /** An event that the walk did not send. */
    visit: printExchange,

    /** A step that failed. */
    step(place: string, title: string, { exchange, failure = [] }: Report): void {
      line(['red', `  ✗ ${place}  ${title}`])
      if (exchange) printExchange(exchange)
      for (const text of failure) line('    ', text)
    },

    /** After a walk. */
    walked({ route, title }: Walk, { passed, failed }: Tally): void {
      const mark: Piece = failed > 0 ? ['red', '✗'] : ['green', '✓']
      line(
        '  ',
        mark,
        ' ',
        ['bold', `/${route}`.padEnd(12)],
        `${passed} of ${passed + failed} steps  ${title}`,
      )
    },

    summary({ passed, failed, durationMs }: Summary): void {
      line()
      line(
        failed > 0 ? ['red', '✗ '] : ['green', '✓ '],
        ['bold', `${passed} steps passed, ${failed} failed`],
        ['dim', ` · ${(durationMs / 1000).toFixed(1)} s`],
      )
    },

    /** Names the page, the host and its documentation. */
    invitation(pageUrl: string | undefined): void {
      const { url, webhookSecret } = world
      const rows = [
        ['Page', pageUrl, 'see it, try it, break it'],
        ['Host', url, webhookSecret ? 'accepts only signed events' : 'takes events from this machine'],
        ['Docs', `${url}/docs`, 'every route, event and function'],
      ]
      line()
      for (const [name = '', value, hint = ''] of rows)
        if (value) line('  ', ['bold', name.padEnd(6)], ['cyan', value.padEnd(28)], ['dim', hint])
      line('        ', ['dim', 'Nothing leaves this machine. Ctrl-C ends it.'])
    },
  }
}
