import type { DeliveryStore } from '@org/core'
import type { OutboundInit } from '@org/core/internal'
import { ConnectionCut } from '@org/core/testing'
import type { Faults } from './events.ts'

export const LEASE_MS = 6_000
/** The lease is renewed once meanwhile. */
const SLOW_MS = LEASE_MS / 2
const SLOW_WRITE_MS = 700

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** The calls of a host for one delivery. From the step at which it halts, each step waits until it wakes. */
export class HaltingHost {
  /** The steps that had an effect. */
  readonly taken: string[] = []
  readonly #halted = Promise.withResolvers<void>()
  readonly #woken = Promise.withResolvers<void>()
  readonly #faults: Faults
  readonly #store: DeliveryStore
  #hasHalted = false
  #steps = 0
  #writes = 0
  /** Requests that the store receives before the next one. */
  readonly #late: (() => Promise<unknown>)[] = []
  /** A write without an answer, which is repeated next. */
  #unanswered: string | undefined

  constructor(faults: Faults, store: DeliveryStore) {
    this.#faults = faults
    this.#store = store
  }

  /** Resolves when it halts. */
  halted = this.#halted.promise
  wake = this.#woken.resolve

  async #step<Result>(act: () => Promise<Result>, name?: string): Promise<Result> {
    if (this.#isClaimed()) this.#steps += 1
    const names: unknown[] = [this.#steps, name]
    await this.#pass('before', names)
    try {
      return await act()
    } finally {
      await this.#pass('after', names)
    }
  }

  async #pass(when: 'before' | 'after', names: readonly unknown[]): Promise<void> {
    const { halt } = this.#faults
    this.#hasHalted ||= halt?.when === when && names.includes(halt.at) && this.#isClaimed()
    if (!this.#hasHalted) return
    this.#halted.resolve()
    await this.#woken.promise
  }

  #isClaimed = () => this.taken.includes('claim') && this.#unanswered !== 'claim'

  #write<Result>(name: string, ask: () => Promise<Result>, isDone = (result: Result) => result === true) {
    const { write = 0, times = 0, fault } = this.#faults.store ?? {}
    this.#writes += 1
    const failures = fault ? this.#writes - write : -1
    const isHit = failures >= 0 && failures < times
    const act = async () => {
      if (isHit && fault === 'lost') throw new Error('The request was lost.')
      if (isHit && fault === 'slow') await pause(SLOW_WRITE_MS)
      // A connection keeps the order.
      for (const earlier of this.#late.splice(0)) await earlier()
      if (isHit && fault === 'late') {
        this.#late.push(ask)
        await pause(SLOW_WRITE_MS)
        throw new Error('The store did not answer.')
      }
      const result = await ask()
      if (isDone(result) && name !== this.#unanswered) this.taken.push(name)
      this.#unanswered = isHit ? name : undefined
      if (isHit) throw new Error('The answer was lost.')
      return result
    }
    return this.#step(act, failures === times ? 'repeated write' : name)
  }

  readonly store: DeliveryStore = {
    claim: (request) => {
      const isClaimed = ({ state }: { state: string }) => state === 'claimed'
      return this.#write('claim', () => this.#store.claim(request), isClaimed)
    },
    renew: (...given) => this.#write('renewal', () => this.#store.renew(...given)),
    advance: (lease, steps) => {
      const [[name, value] = ['']] = Object.entries(steps)
      const own = lease.subject.includes('/delivery/') ? 'intent' : 'anew'
      const what = name.startsWith('@') ? own : value === null ? `no ${name}` : name
      return this.#write(what, () => this.#store.advance(lease, steps))
    },
    complete: (...given) => this.#write('complete', () => this.#store.complete(...given)),
    release: (...given) => this.#write('release', () => this.#store.release(...given)),
    reopen: (...given) => this.#write('reopen', () => this.#store.reopen(...given)),
    reserve: (...given) => this.#write('reserve', () => this.#store.reserve(...given)),
    read: (...given) => this.#step(() => this.#store.read(...given)),
    probe: () => this.#store.probe(),
  }

  platform(send: typeof fetch): typeof fetch {
    return (input, init) => {
      const [, , , kind] = new URL(String(input)).pathname.split('/')
      const effect = kind === 'status' ? `status ${JSON.parse(String(init?.body)).status}` : kind
      return this.#call(() => send(input, init), init, effect)
    }
  }

  provider(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const { create, act, isSlow } = this.#faults
      const method = init?.method ?? 'GET'
      const effect = { PUT: 'create', DELETE: 'remove', POST: 'act' }[method]
      const cut = { PUT: create, DELETE: create, POST: act }[method]
      if (cut === 'lost') throw new ConnectionCut()
      if (cut === 'unreached') throw new TypeError('connect ECONNREFUSED')
      const response = await this.#call(() => send(input, init), init, effect)
      if (isSlow) await pause(SLOW_MS)
      if (cut && response.ok) throw new ConnectionCut()
      return response
    }
  }

  #call(send: () => Promise<Response>, init: OutboundInit = {}, effect?: string) {
    return this.#step(async () => {
      init.beforeSend?.()
      const response = await send()
      if (response.ok && effect) this.taken.push(effect)
      return response
    })
  }
}
