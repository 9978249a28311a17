/** Prints a run: each event with its response, its calls, and its checks. */
import { describeCall, loggedMessages, summarize } from '../world/describe.ts'
import type { Exchange, LogLine, OutboundCall } from '../world/exchange.ts'
import { at } from '../world/json.ts'
import { createMask } from '../world/mask.ts'
import { shortenPath, truncate } from '../world/text.ts'
import type { World } from '../world/world.ts'
import type { Walk } from './step.ts'
import { type Piece, paint, type Style, type Terminal, wrap } from './terminal.ts'

/** How many steps had which outcome. */
interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** The result of a run. */
export type Summary = Tally & { durationMs: number }

/** One expectation of a step, as a sentence. */
export interface Check {
  sentence: string
  /** Set if the check failed. */
  failure?: { expected: unknown; found: unknown }
}

/** Prints the parts of a run. */
export type Printer = ReturnType<typeof createPrinter>

const LINES_OF_DATA = 5
const NUMBER_WIDTH = 4
const INDENT = ' '.repeat(6)
const PEER_WIDTH = 10
const LONGEST_PLACE = 32

/**
 * Makes the printer of one run.
 * @param whole prints every step; otherwise a line for each walk, and only the steps that fail
 */
export function createPrinter(terminal: Terminal, world: World, whole: boolean) {
  const { width } = terminal
  const mask = createMask(world.secrets)
  /** The lines of the current step, until it is clear whether anybody wants to read them. */
  let held: string[] | undefined
  const write = (text: string) => (held ? held.push(text) : terminal.write(text))
  const line = (...pieces: Piece[]) => write(`${paint(pieces, terminal)}\n`)
  const clean = (text: string) => mask({ text }).text

  /** A text after a mark, in lines with the same indent. */
  function block(mark: Piece, text: string, style?: Style, most = LINES_OF_DATA): void {
    const indent = ' '.repeat(NUMBER_WIDTH)
    for (const [index, part] of wrap(clean(text), width - NUMBER_WIDTH - 2, most).entries()) {
      line(indent, index === 0 ? mark : ' ', ' ', style ? [style, part] : part)
    }
  }

  function call(outbound: OutboundCall): void {
    const { to, method, path, status } = outbound
    const style = status !== undefined && status < 400 ? 'green' : 'red'
    const text = `${shortenPath(path)}  ${describeCall(outbound)}`.trimEnd()
    const said = `${status ?? '–––'}`.padEnd(5)
    line(INDENT, ['dim', to.padEnd(PEER_WIDTH)], [style, said], ['dim', method.padEnd(7)], text)
  }

  function log({ level, message }: LogLine): void {
    const style = level === 'error' ? 'red' : 'yellow'
    line(INDENT, [style, level.padEnd(PEER_WIDTH)], ['dim', clean(message)])
  }

  return {
    opening(): void {
      const { mail, idp, idpServer, webhookSecret, url } = world
      const changeable = (mayChange: boolean) => `real; ${mayChange ? 'read and changed' : 'only read'}`
      const facts = {
        host: url,
        platform: 'emulated',
        mail: mail.emulator ? 'emulated' : `real; only to ${mail.to}`,
        users: idp.emulator ? 'emulated' : changeable(idp.mayChange),
        applications: idpServer.emulator ? 'emulated' : changeable(idpServer.mayChange),
        webhooks: webhookSecret ? 'signed' : 'not signed',
      }
      line(['bold', 'The sandbox'], ['dim', ': a platform, its events, and the host that acts on them'])
      if (!whole && world.isEmulated) return
      for (const [name, fact] of Object.entries(facts)) line('  ', name.padEnd(14), fact)
      for (const entry of world.warnings.filter(isWarning)) block(['yellow', '!'], entry.message, 'dim')
    },

    walk({ route, title }: Walk): void {
      if (!whole) held = []
      line()
      line(['cyan', `── /${route}/webhook · ${title} `.padEnd(width, '─')])
    },

    /** The heading of a step, or of an event that the walk did not send. */
    heading(route: string, event: string, title: string, step?: number): void {
      const number = `${step ?? '•'}`.padStart(NUMBER_WIDTH - 1)
      const place = truncate(clean(`/${route} ${event}`), LONGEST_PLACE)
      line()
      line(['bold', number], ' ', ['cyan', place], '  ', ['bold', clean(title)])
    },

    exchange(exchange: Exchange): void {
      const shown = mask(exchange)
      const { response, calls, request, deliveryId, signed } = shown
      const { status, replayed, body } = response
      const style = status < 400 ? 'green' : 'yellow'
      const facts = [
        status,
        `${Math.round(shown.durationMs)} ms`,
        replayed && 'recorded',
        at(request.body, 'functionCall', 'name') ?? at(request.body, 'download', 'file'),
        summarize(request.body, body),
        at(request.body, 'deployment', 'id') && `deployment ${at(request.body, 'deployment', 'id')}`,
        deliveryId && `delivery ${deliveryId}`,
        signed && 'signed',
        status >= 400 && `${at(body, 'code')}: ${at(body, 'detail')}`,
      ]
      block([style, '←'], facts.filter(Boolean).join(' · '))
      for (const outbound of calls) call(outbound)
      // The calls above show the messages that the platform got.
      const known = new Set(calls.flatMap(({ request }) => loggedMessages(request.body)))
      for (const entry of shown.log) if (isWarning(entry) && !known.has(entry.message)) log(entry)
    },

    checks(checks: readonly Check[]): void {
      const passed = checks.filter(({ failure }) => !failure).map(({ sentence }) => sentence)
      if (passed.length > 0) block(['green', '✓'], passed.join(' · '), 'green')
      for (const { sentence, failure } of mask(checks)) {
        if (!failure) continue
        block(['red', '✗'], sentence, 'red')
        block(' ', `expected ${JSON.stringify(failure.expected)}`)
        block(' ', `found    ${JSON.stringify(failure.found)}`)
      }
    },

    skipped(reason: string): void {
      block(['yellow', '–'], `skipped: ${reason}`, 'dim')
    },

    failure(message: string): void {
      block(['red', '✗'], message, 'red')
    },

    /** After a step. */
    ended(outcome: keyof Tally): void {
      if (!held) return
      if (outcome === 'failed') terminal.write(held.join(''))
      held = []
    },

    /** After a walk. */
    walked({ route, title }: Walk, { passed, failed, skipped }: Tally): void {
      held = undefined
      if (whole) return
      const mark: Piece = failed > 0 ? ['red', '✗'] : ['green', '✓']
      const counts = [`${passed} of ${passed + failed} steps`, skipped > 0 ? `${skipped} skipped` : '']
      const text = `${counts.filter(Boolean).join(', ')}  ${title}`
      line('  ', mark, ' ', ['bold', `/${route}`.padEnd(12)], text)
    },

    summary({ passed, failed, skipped, durationMs }: Summary): void {
      const seconds = (durationMs / 1000).toFixed(1)
      const outcome = `${passed} steps passed, ${failed} failed`
      line()
      line(
        [failed > 0 ? 'red' : 'green', failed > 0 ? '✗ ' : '✓ '],
        ['bold', outcome],
        skipped > 0 ? `, ${skipped} skipped` : '',
        ['dim', ` · ${seconds} s`],
      )
    },

    /** Names the page, the host and its documentation. */
    invitation(pageUrl: string | undefined, takesKeys: boolean): void {
      const { url, isEmulated, webhookSecret } = world
      const leaves = isEmulated ? 'Nothing leaves this machine.' : 'Some providers are real.'
      const rows = [
        ...(pageUrl
          ? [['Page', pageUrl, `see it, try it, break it${takesKeys ? '; press o to open it' : ''}`]]
          : []),
        ['Host', url, webhookSecret ? 'accepts only signed events' : 'takes events from this machine'],
        ['Docs', `${url}/docs`, 'every route, event and function'],
        ['', `${leaves} Ctrl-C ends it.`],
      ]
      line()
      for (const [name = '', value = '', hint = ''] of rows) {
        if (value.length + hint.length + 10 > width)
          for (const part of wrap([name, value, hint].join(' '), width)) line(part)
        else line('  ', ['bold', name.padEnd(6)], ['cyan', value.padEnd(28)], ['dim', hint])
      }
    },
  }
}

function isWarning({ level }: LogLine): boolean {
  return level === 'warn' || level === 'error'
}
