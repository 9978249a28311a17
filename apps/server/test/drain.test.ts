import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import { expect, it, onTestFinished } from 'vitest'
import { createDrain } from '../src/runtimes/drain.ts'
import { createOneAtATime } from '../src/runtimes/one-at-a-time.ts'

/** Longer than idle connections stay. */
const IDLE_MS = 10_000

/** A server that drains, and a sender that keeps its connection. */
async function start(handle: () => Response) {
  const fetch = (_: Request, { outgoing }: HttpBindings | Http2Bindings) =>
    drain.admit(outgoing, () => handle())
  const { server, hasWaiting } = createOneAtATime({}, getRequestListener(fetch))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const drain = createDrain(server, { hasWaiting })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => {
    agent.destroy()
    server.close()
  })
  async function ask() {
    const [response]: IncomingMessage[] = await once(get({ agent, host: '127.0.0.1', port }), 'response')
    return { text: async () => (await response?.toArray())?.join('') }
  }
  return { drain, ask }
}

it('a server that drains waits for the end of a response that has begun', async () => {
  const { readable, writable } = new TransformStream()
  const writer = writable.getWriter()
  const encode = (text: string) => writer.write(new TextEncoder().encode(text))
  const { drain, ask } = await start(() => new Response(readable))
  void encode('one ')
  const response = await ask()
  const finished = Promise.withResolvers<void>()
  // Idle connections have been idle for long enough, and the events end a moment later.
  const closed = drain.close(() => setTimeout(1).then(finished.resolve), IDLE_MS)
  const text = response.text()
  await finished.promise
  await setImmediate()
  await encode('two')
  await writer.close()
  expect(await text).toBe('one two')
  await closed
})
