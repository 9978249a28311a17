import type { Logger } from '@org/core'
import type { Config } from '../config.ts'
import type { Tracing } from '../tracing.ts'

/** Where `@opentelemetry/api` keeps what a process registers, whichever copy of it does. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/**
 * Makes the traces of a host whose process registered an OpenTelemetry SDK before: see docs/signals.md.
 *
 * @returns `undefined` without an SDK; then nothing of OpenTelemetry is loaded for traces
 */
export async function loadTracing(
  config: Pick<Config, 'secrets'>,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined
  const { createTracing, passesContextOn } = await import('../tracing.ts')
  if (passesContextOn()) return createTracing(config)
  logger(
    'warn',
    'There will be no traces: the OpenTelemetry SDK was registered without a context manager, or with an @opentelemetry/api older than 1.9.',
  )
  return undefined
}
