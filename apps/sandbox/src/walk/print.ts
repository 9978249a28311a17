/** Prints a run: a line for each walk, or each event with its response, its calls, and its checks. */
import { styleText } from 'node:util'
import { describeCall, loggedMessages, summarize } from '../world/describe.ts'
import type { Exchange, LogLine } from '../world/exchange.ts'
import { at } from '../world/json.ts'
import { createMask } from '../world/mask.ts'
import { shortenPath, truncate } from '../world/text.ts'
import type { World } from '../world/world.ts'
import type { Walk } from './walks.ts'

/** The target of all output. */
export interface Terminal {
  write(text: string): void
  writeError(text: string): void
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
  /** Sums up the expected effects. */
  says: string
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
const INDENT = ' '.repeat(6)

/**
 * Makes the printer of one run.
 * @param whole prints every step; otherwise a line for each walk, and only the steps that fail
 */
export function createPrinter(terminal: Terminal, world: World, whole: boolean) {
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

  function heading(place: string, title: string, number: number | string): void {
    line()
    line(['bold', String(number).padStart(3)], ' ', ['cyan', place], '  ', ['bold', title])
  }

  function printExchange(exchange: Exchange): void {
    const { response, calls, log, request, deliveryId, signed, durationMs } = mask(exchange)
    const { status, replayed, body } = response
    const deployment = at(request.body, 'deployment', 'id')
    const facts = [
      status,
      `${Math.round(durationMs)} ms`,
      replayed && 'recorded',
      at(request.body, 'functionCall', 'name') ?? at(request.body, 'download', 'file'),
      summarize(request.body, body),
      deployment && `deployment ${deployment}`,
      deliveryId && `delivery ${deliveryId}`,
      signed && 'signed',
      status >= 400 && `${at(body, 'code')}: ${at(body, 'detail')}`,
    ]
    line('    ', [status < 400 ? 'green' : 'yellow', '← '], facts.filter(Boolean).join(' · '))
    for (const call of calls) {
      const style = call.status !== undefined && call.status < 400 ? 'green' : 'red'
      const text = `${call.method.padEnd(7)}${shortenPath(call.path)}  ${describeCall(call)}`.trimEnd()
      line(INDENT, ['dim', call.to.padEnd(10)], [style, String(call.status ?? '–––').padEnd(5)], text)
    }
    // The calls above show the messages that the platform got.
    const known = new Set(calls.flatMap(({ request }) => loggedMessages(request.body)))
    for (const entry of log.filter(isWarning)) if (!known.has(entry.message)) warn(entry)
  }

  function warn({ level, message }: LogLine): void {
    line(INDENT, [level === 'error' ? 'red' : 'yellow', level.padEnd(10)], ['dim', message])
  }

  return {
    opening(): void {
      line(['bold', 'The sandbox'], ['dim', ': a platform, its events, and the host that acts on them'])
      if (whole) line('  ', world.webhookSecret ? 'The events are signed.' : 'The events are not signed.')
      if (whole) for (const entry of world.warnings.filter(isWarning)) warn(entry)
    },

    /** An event that the walk did not send. */
    visit(exchange: Exchange): void {
      const event = String(at(exchange.request.body, 'name') ?? 'unreadable')
      const title = exchange.source ? 'from the page' : 'a call from outside'
      heading(truncate(`/${exchange.route} ${event}`, 40), title, '•')
      printExchange(exchange)
    },

    step(place: string, title: string, number: number, { says, exchange, failure }: Report): void {
      if (!whole && !failure) return
      heading(place, title, number)
      if (exchange) printExchange(exchange)
      line('    ', failure ? ['red', `✗ ${says}`] : ['green', `✓ ${says}`])
      for (const text of failure ?? []) line(INDENT, text)
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
    invitation(pageUrl: string | undefined, takesKeys: boolean): void {
      const { url, realRoutes, webhookSecret } = world
      const rows = [
        ['Page', pageUrl, `see it, try it, break it${takesKeys ? '; press o to open it' : ''}`],
        ['Host', url, webhookSecret ? 'accepts only signed events' : 'takes events from this machine'],
        ['Docs', `${url}/docs`, 'every route, event and function'],
      ]
      line()
      for (const [name = '', value, hint = ''] of rows)
        if (value) line('  ', ['bold', name.padEnd(6)], ['cyan', value.padEnd(28)], ['dim', hint])
      const leaves = realRoutes.length === 0 ? 'Nothing leaves this machine.' : 'Some providers are real.'
      line('        ', ['dim', `${leaves} Ctrl-C ends it.`])
    },
  }
}

function isWarning({ level }: LogLine): boolean {
  return level === 'warn' || level === 'error'
}
