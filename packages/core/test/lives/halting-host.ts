import type { DeliveryStore } from '@org/core'
import type { OutboundInit } from '@org/core/hosting'
import { ConnectionCut } from '@org/core/testing'
import type { Faults } from './events.ts'

export const LEASE_MS = 6_000
/** The lease is renewed once meanwhile. */
const SLOW_MS = LEASE_MS / 2
const SLOW_WRITE_MS = 700

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** The calls of a host for one delivery. From the step at which it halts, each step waits until it wakes. */
export function createHaltingHost(
  { halt, store: outage, create, act, isSlow }: Faults,
  inner: DeliveryStore,
) {
  /** The steps that had an effect. */
  const taken: string[] = []
  const [halted, woken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** Requests that the store receives before the next one. */
  const late: (() => Promise<unknown>)[] = []
  /** A write without an answer, which is repeated next. */
  let unanswered: string | undefined
  let [steps, writes, hasHalted] = [0, 0, false]

  const isClaimed = () => taken.includes('claim') && unanswered !== 'claim'

  async function pass(when: 'before' | 'after', names: readonly unknown[]): Promise<void> {
    hasHalted ||= halt?.when === when && names.includes(halt.at) && isClaimed()
    if (!hasHalted) return
    halted.resolve()
    await woken.promise
  }

  async function step<Result>(work: () => Promise<Result>, name?: string): Promise<Result> {
    if (isClaimed()) steps += 1
    const names = [steps, name]
    await pass('before', names)
    try {
      return await work()
    } finally {
      await pass('after', names)
    }
  }

  function write<Result>(name: string, ask: () => Promise<Result>) {
    const { write: first = 0, times = 0, fault } = outage ?? {}
    writes += 1
    const failures = fault ? writes - first : -1
    const isHit = failures >= 0 && failures < times
    const work = async () => {
      if (isHit && fault === 'lost') throw new Error('The request was lost.')
      if (isHit && fault === 'slow') await pause(SLOW_WRITE_MS)
      // A connection keeps the order.
      for (const earlier of late.splice(0)) await earlier()
      if (isHit && fault === 'late') {
        late.push(ask)
        await pause(SLOW_WRITE_MS)
        throw new Error('The store did not answer.')
      }
      const result = await ask()
      const isDone = result === true || Object(result).state === 'claimed'
      if (isDone && name !== unanswered) taken.push(name)
      unanswered = isHit && fault !== 'slow' ? name : undefined
      if (unanswered) throw new Error('The answer was lost.')
      return result
    }
    return step(work, failures === times ? 'repeated write' : name)
  }

  const store: DeliveryStore = {
    ...inner,
    claim: (request) => write('claim', () => inner.claim(request)),
    renew: (...given) => write('renewal', () => inner.renew(...given)),
    advance(lease, steps) {
      const [[name, value] = ['']] = Object.entries(steps)
      const own = lease.subject.includes('/delivery/') ? 'intent' : 'anew'
      const what = name.startsWith('@') ? own : value === null ? `no ${name}` : name
      return write(what, () => inner.advance(lease, steps))
    },
    complete: (...given) => write('complete', () => inner.complete(...given)),
    release: (...given) => write('release', () => inner.release(...given)),
    reserve: (...given) => write('reserve', () => inner.reserve(...given)),
    read: (...given) => step(() => inner.read(...given)),
  }

  const call = (send: () => Promise<Response>, init: OutboundInit = {}, effect?: string) =>
    step(async () => {
      init.beforeSend?.()
      const response = await send()
      if (response.ok && effect) taken.push(effect)
      return response
    })

  return {
    taken,
    store,
    /** Resolves when it halts. */
    halted: halted.promise,
    wake: woken.resolve,
    platform(send: typeof fetch): typeof fetch {
      return (input, init) => {
        const [, , , kind] = new URL(String(input)).pathname.split('/')
        const effect = kind === 'status' ? `status ${JSON.parse(String(init?.body)).status}` : kind
        return call(() => send(input, init), init, effect)
      }
    },
    provider(send: typeof fetch): typeof fetch {
      return async (input, init) => {
        const method = init?.method ?? 'GET'
        const effect = { PUT: 'create', DELETE: 'remove', POST: 'act' }[method]
        const cut = { PUT: create, DELETE: create, POST: act }[method]
        if (cut === 'lost') throw new ConnectionCut()
        if (cut === 'unreached') throw new TypeError('connect ECONNREFUSED')
        const response = await call(() => send(input, init), init, effect)
        if (isSlow) await pause(SLOW_MS)
        if (cut && response.ok) throw new ConnectionCut()
        return response
      }
    },
  }
}
