import type { Logger } from '@org/core'
import type { Config } from './config.ts'
import type { Tracing } from './tracing.ts'

/** Where `@opentelemetry/api` keeps what a process registers, whichever copy of it does. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/**
 * The traces of a host, where its process has registered an OpenTelemetry SDK before: see docs/signals.md.
 *
 * @returns `undefined` where it has not; then nothing of OpenTelemetry is loaded
 */
export async function loadTracing(
  config: Pick<Config, 'secrets'>,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined
  const { createTracing, seesContext } = await import('./tracing.ts')
  if (seesContext()) return createTracing(config)
  logger(
    'warn',
    'There will be no traces: the OpenTelemetry SDK was registered without a context manager, or with an @opentelemetry/api older than 1.9.',
  )
  return undefined
}
