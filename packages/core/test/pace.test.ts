import { deliver } from '@org/core/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { calling, createHost } from './fixtures.ts'

/** An event that makes one change, by a clock of its own. Its handler has 20 of its 25 seconds. */
function open() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds)
  let [waitMs, takesMs, sent] = [0, 0, 0]
  const { handle } = createHost({
    async fetch() {
      sent += 1
      pass(takesMs)
      return new Response()
    },
    async provider(_, context) {
      pass(waitMs)
      await context.fetch('https://provider.test', { method: 'POST' })
    },
  })
  return async (wait: number, takes = 0) => {
    const before = sent
    ;[waitMs, takesMs] = [wait, takes]
    const { body } = await deliver(handle, calling('countGreetings'))
    return sent > before ? 'sent' : Reflect.get(Object(body), 'code')
  }
}

it('makes no change in the last two seconds of an event', async () => {
  const change = open()
  expect([await change(17_999), await change(18_000)]).toEqual(['sent', 'provider_timeout'])
})

it('makes no change for which less time is left than the slowest of the last twenty took', async () => {
  const change = open()
  await change(0, 5_000)
  expect([await change(14_999), await change(15_000)]).toEqual(['sent', 'provider_timeout'])
  for (let count = 0; count < 20; count += 1) await change(0)
  expect(await change(15_000)).toBe('sent')
})

it('makes changes in the first two thirds of an event, however slow one was', async () => {
  const change = open()
  await change(0, 19_000)
  expect([await change(11_600), await change(11_700)]).toEqual(['sent', 'provider_timeout'])
})
