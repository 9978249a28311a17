import { deliver } from '@org/core/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { calling, createHost } from './fixtures.ts'

/** An event that makes one change, by a clock of its own. Its handler has 20 of its 25 seconds. */
function open() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)
  let [waitMs, sent] = [0, 0]
  const { handle } = createHost({
    async fetch() {
      sent += 1
      return new Response()
    },
    async provider(_, context) {
      pass(waitMs)
      await context.fetch('https://provider.test', { method: 'POST' })
    },
  })
  return async (wait: number) => {
    const before = sent
    waitMs = wait
    const { body } = await deliver(handle, calling('countGreetings'))
    return sent > before ? 'sent' : Reflect.get(Object(body), 'code')
  }
}

it('makes no change in the last two seconds of an event', async () => {
  const change = open()
  expect([await change(17_999), await change(18_000)]).toEqual(['sent', 'provider_timeout'])
})
