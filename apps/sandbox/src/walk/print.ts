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

/** The outcome of a step. */
export interface Report {
  exchange?: Exchange
  /** The fault of a step that failed. */
  failure?: readonly string[]
}

/** Prints the parts of a run. */
export type Printer = ReturnType<typeof createPrinter>

const LONGEST = 500

/** Makes the printer of one run. */
export function createPrinter(terminal: Terminal, world: World) {
  const mask = createMask(world.secrets)
  const line = (...parts: string[]) => terminal.write(`${parts.join('')}\n`)
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    terminal.colours ? styleText(style, text, { validateStream: false }) : text
  /** Data without secrets, control characters and an end that nobody reads. */
  const clean = (text: string) => truncate(mask({ text }).text, LONGEST).replaceAll(/\p{Cc}/gu, '·')

  function printExchange({ route, request: { body }, response, durationMs, source }: Exchange): void {
    const { status, replayed } = response
    const called = at(body, 'functionCall', 'name') ?? at(body, 'download', 'file')
    const names = [`/${route}`, at(body, 'name'), called, at(body, 'deployment', 'id')]
    const outcome = [status, status >= 400 && at(response.body, 'code'), replayed && 'replayed']
    const took = `${Math.round(durationMs)} ms${source ? '' : ', from outside'}`
    const words = (parts: unknown[]) => clean(parts.filter(Boolean).join(' '))
    const style = status < 400 ? 'green' : 'yellow'
    line('  • ', words(names), paint(style, ` → ${words(outcome)}`), paint('dim', `  ${took}`))
  }

  return {
    opening: () =>
      line(paint('bold', 'The sandbox'), ': a platform, its events, and the host that acts on them'),

    /** An event that the walk did not send. */
    visit: printExchange,

    /** A step that failed. */
    step(place: string, title: string, { exchange, failure = [] }: Report): void {
      line(paint('red', `  ✗ ${place}  ${title}`))
      if (exchange) printExchange(exchange)
      for (const text of failure) line('    ', clean(text))
    },

    /** After a walk. */
    walked({ route, title }: Walk, { passed, failed }: Tally): void {
      const mark = failed > 0 ? paint('red', '✗') : paint('green', '✓')
      const name = paint('bold', `/${route} `.padEnd(12))
      line(`  ${mark} ${name}${passed} of ${passed + failed} steps  ${title}`)
    },

    summary({ passed, failed, durationMs }: Summary): void {
      const mark = failed > 0 ? paint('red', '✗') : paint('green', '✓')
      const seconds = paint('dim', `${(durationMs / 1000).toFixed(1)} s`)
      line(`\n${mark} ${paint('bold', `${passed} steps passed, ${failed} failed`)} · ${seconds}`)
    },

    /** Names the page, the host and its documentation. */
    invitation(pageUrl: string | undefined): void {
      const { url, webhookSecret } = world
      const takes = webhookSecret ? 'accepts only signed events' : 'takes events from this machine'
      const row = (name: string, value: string, hint: string) =>
        line('  ', paint('bold', name.padEnd(6)), paint('cyan', value.padEnd(28)), paint('dim', hint))
      line()
      if (pageUrl) row('Page', pageUrl, 'see it, try it, break it')
      row('Host', url, takes)
      row('Docs', `${url}/docs`, 'every route, event and function')
      line('        ', paint('dim', 'Nothing leaves this machine. Ctrl-C ends it.'))
    },
  }
}
