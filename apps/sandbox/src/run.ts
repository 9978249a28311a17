/**
 * A run of the sandbox: starts everything, goes through the walks, and stays up where it is asked to.
 *
 * @module
 */
import { ConfigurationError } from '@org/server'
import { at } from './data.ts'
import { type Environment, SandboxError } from './environment.ts'
import { printInvitation } from './invitation.ts'
import { type Page, startPage } from './page/server.ts'
import { createPrinter } from './print.ts'
import type { Terminal } from './terminal.ts'
import { walks as allWalks } from './walk/index.ts'
import { runWalks } from './walk/run-walks.ts'
import type { Walk } from './walk/step.ts'
import { startWorld, type World } from './world.ts'

/** Options of {@link run}. */
export interface RunOptions {
  environment: Environment
  terminal: Terminal
  /** Ends after the walks. */
  once: boolean
  /** Ends the run. */
  signal: AbortSignal
  /**
   * The port of the page, 0 for a free one.
   * @default there is no page
   */
  pagePort?: number | undefined
  /** @default every walk there is */
  walks?: readonly Walk[] | undefined
  /** Is told when the walks are over, and the host stays up. */
  onReady?: ((world: World, page: Page | undefined) => void) | undefined
}

/**
 * Runs the sandbox.
 *
 * @returns the exit code: 0 where every step passed
 */
export async function run(options: RunOptions): Promise<number> {
  const { environment, terminal, once, signal, walks = allWalks, pagePort, onReady } = options
  let world: World | undefined
  let page: Page | undefined
  try {
    world = await startWorld(environment)
    if (!once && pagePort !== undefined) page = await startPage(world, pagePort)
    const printer = createPrinter(terminal, world)
    printer.opening()
    const summary = await runWalks(walks, world, printer, signal)
    printer.summary(summary)
    if (!once && !signal.aborted) {
      page?.ready()
      printInvitation(terminal, world, page?.url)
      world.onVisit((exchange) => {
        const event = String(at(exchange.event, 'name') ?? 'unreadable')
        const title = exchange.source === undefined ? 'a call from outside' : 'from the page'
        printer.heading(exchange.route, event, title)
        printer.exchange(exchange, walks.find(({ route }) => route === exchange.route)?.describeCall)
      })
      onReady?.(world, page)
      await aborted(signal)
    }
    return summary.failed > 0 ? 1 : 0
  } catch (error) {
    if (!(error instanceof SandboxError || error instanceof ConfigurationError)) throw error
    terminal.writeError(`${error.message}\n`)
    return 1
  } finally {
    await page?.close()
    await world?.close()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
