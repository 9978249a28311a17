import { context } from '@opentelemetry/api'
import { afterEach, expect, it } from 'vitest'
import { loadTracing } from '../src/telemetry.ts'
import { registerSdk, unregisterSdk } from './traced.ts'

const registered = Symbol.for('opentelemetry.js.api.1')

afterEach(() => {
  unregisterSdk()
  Reflect.deleteProperty(globalThis, registered)
})

/** What is loaded, and what the log says of it. */
async function load() {
  const warnings: string[] = []
  const tracing = await loadTracing({ secrets: [] }, (_, message) => warnings.push(message))
  return { loaded: tracing !== undefined, warnings }
}

it('a process without an SDK is not traced, and is not told so', async () => {
  expect(await load()).toEqual({ loaded: false, warnings: [] })
})

it('a process with an SDK is traced', async () => {
  registerSdk()
  expect(await load()).toEqual({ loaded: true, warnings: [] })
})

it.each([
  ['without a context manager', () => context.disable()],
  ['by an older API', () => Reflect.set(Reflect.get(globalThis, registered), 'version', '1.8.0')],
])('an SDK that was registered %s is said to be of no use', async (_, spoil) => {
  registerSdk()
  spoil()
  expect(await load()).toEqual({ loaded: false, warnings: [expect.stringContaining('no traces')] })
})

it('an SDK that was registered by a newer API is used', async () => {
  registerSdk()
  Reflect.set(Reflect.get(globalThis, registered), 'version', '1.10.0')
  expect(await load()).toEqual({ loaded: true, warnings: [] })
})
