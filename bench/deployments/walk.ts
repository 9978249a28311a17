/** The walk of the sandbox, through a host outside this process. */
import { createPrinter, type Summary } from '../../apps/sandbox/src/walk/print.ts'
import { runWalks } from '../../apps/sandbox/src/walk/run-walks.ts'
import { walksOf } from '../../apps/sandbox/src/walk/walks.ts'
import { type StartHost, startWorld } from '../../apps/sandbox/src/world/world.ts'

const webhookSecret = `whsec_${btoa('a secret of the platform')}`

/**
 * Takes every step of the walks, with signed events.
 *
 * @returns the summary, and the printed output
 */
export async function walkThrough(startHost: StartHost): Promise<Summary & { output: string }> {
  let output = ''
  const write = (text: string) => {
    output += text
  }
  const environment = { PORT: '0', PLATFORM_WEBHOOK_SECRET: webhookSecret }
  const world = await startWorld(environment, startHost)
  try {
    const printer = createPrinter({ write, colours: false }, world)
    const summary = await runWalks(walksOf(world), world, printer, new AbortController().signal)
    return { ...summary, output }
  } finally {
    await world.close()
  }
}
