/** A run of the sandbox: starts everything, runs the walks, and keeps the host running. */
import { once as eventOf } from 'node:events'
import { type Page, startPage } from './page/server.ts'
import { createPrinter, type Terminal } from './walk/print.ts'
import { runWalks } from './walk/run-walks.ts'
import { type Walk, walksOf } from './walk/walks.ts'
import type { Environment } from './world/listen.ts'
import { startWorld, type World } from './world/world.ts'

/** Options of {@link run}. */
export interface RunOptions {
  environment: Environment
  terminal: Terminal
  /** Ends the run after the walks. */
  once: boolean
  /** Ends the run. */
  signal: AbortSignal
  /** The port of the page, 0 for a free one; without it, there is no page. */
  pagePort?: number | undefined
  /** @default all walks */
  walks?: readonly Walk[] | undefined
  /** Runs after the walks, if the host keeps running. */
  onReady?: ((world: World) => void) | undefined
}

/** The exit code of shells after SIGINT. */
const INTERRUPTED = 130

/**
 * Runs the sandbox.
 * @returns the exit code: 0 if every step passed
 * @throws {SandboxError | ConfigurationError} if it can’t start
 */
export async function run(options: RunOptions): Promise<number> {
  const { environment, terminal, once, signal, pagePort, onReady } = options
  let world: World | undefined
  let page: Page | undefined
  try {
    world = await startWorld(environment)
    if (!once && pagePort !== undefined) page = await startPage(world, pagePort, environment)
    for (const taken of [world.taken, page?.taken]) {
      if (taken) terminal.write(`${taken} is taken (another sandbox?): using the next free port.\n`)
    }
    const printer = createPrinter(terminal, world)
    printer.opening()
    const summary = await runWalks(options.walks ?? walksOf(world), world, printer, signal)
    printer.summary(summary)
    if (signal.aborted) return INTERRUPTED
    if (!once) {
      page?.ready()
      printer.invitation(page?.url)
      world.listeners.onVisit = printer.visit
      const aborted = eventOf(signal, 'abort')
      onReady?.(world)
      await aborted
    }
    return summary.failed > 0 ? 1 : 0
  } finally {
    await page?.close()
    await world?.close()
  }
}
