/**
 * Random lives in one process, whose hosts halt and wake. `SEED` repeats a run, and `LIVES` sets its size. A failure
 * prints the shortest life that shows it.
 */
import { memoryStore } from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inFakeTime } from '../fixtures.ts'
import { anyEvent, anyFaults, callFaults, type Faults, type LifeEvent, often, weighted } from './events.ts'
import { createHaltingHost, LEASE_MS } from './halting-host.ts'
import { createHandler, createProvider, type Route } from './integrations.ts'
import { type Answer, type CarryingEvent, Deployment, OwningDeployment } from './model.ts'

interface Delivery {
  id: string
  route: Route
  body: Record<string, unknown>
}

type World = ReturnType<typeof createWorld>
type Subject = ReturnType<typeof createSubject>

/** An event of a life, as it is delivered. */
interface LifeDelivery extends Delivery {
  subject: Subject
  event: CarryingEvent
}

/** A host that halted in the middle of an event, with the steps that it took. */
interface Halted {
  taken: string[]
  wake(): Promise<{ taken: string[]; status: number; body: unknown }>
}

type Step =
  | { of: 0 | 1; event: LifeEvent | 'application deleted by hand'; faults: Faults }
  /** An earlier delivery. */
  | { again: number; faults: Faults }

const lives = Number(process.env.LIVES ?? 300)
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const timeout = 600_000 + 100 * lives

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => void vi.useRealTimers())

// Without the timers of a halted host.
const outlastLease = () => void vi.setSystemTime(Date.now() + LEASE_MS)

/** Each delivery has a host of its own, and all have one store. */
function createWorld() {
  const platform = createPlatformEmulator()
  const provider = createProvider()
  const store = memoryStore()

  /** @returns the response, or the host if it halted */
  async function send({ id, route, body }: Delivery, faults: Faults) {
    const host = createHaltingHost(faults, store)
    const later: Promise<unknown>[] = []
    const handle = createHandler(route, {
      platform: connectPlatform(host.platform(platform.fetch)),
      verify: 'none',
      store: host.store,
      fetch: host.provider(provider.fetch),
      logger: () => {},
      leaseMs: LEASE_MS,
      waitUntil: (work) => void later.push(work),
    })
    const response = deliver(handle, body, { id }).finally(() => Promise.allSettled(later))
    const sent = await inFakeTime(() => Promise.race([response, host.halted]))
    if (sent) return sent
    const wake: Halted['wake'] = async () => {
      host.wake()
      const { status, body } = await inFakeTime(() => response)
      return { taken: host.taken, status, body }
    }
    return { taken: host.taken.splice(0), wake }
  }

  return { platform, provider, send }
}

function createSubject(id: string, route: Route, { platform }: World) {
  const model = route === 'owning' ? new OwningDeployment() : new Deployment()
  return { id, model, row: platform.addDeployment({ id }) }
}

/** Lives the life of two deployments beside its model, and notes the answers that came. */
async function live(route: Route, steps: Step[], answers: Set<Answer>): Promise<void> {
  const world = createWorld()
  const { platform, provider } = world
  const began = Date.now()
  const delivered: LifeDelivery[] = []
  const halted: (Halted & { delivery: LifeDelivery; isKnown: boolean })[] = []
  const subjects = [createSubject('a', route, world), createSubject('b', route, world)] as const
  for (const step of steps) await take(step)
  for (const host of halted) await expectNothingLate(host)
  for (const { delivery } of halted) await expectDelivery(delivery, {})
  for (const subject of subjects) await expectHealed(subject)

  async function take(step: Step): Promise<void> {
    if ('again' in step) {
      const again = delivered.at(step.again % Math.max(1, delivered.length))
      return again && expectDelivery(again, step.faults)
    }
    const subject = subjects[step.of]
    if (step.event !== 'application deleted by hand')
      return expectDelivery(compose(subject, step.event), step.faults)
    const { application } = subject.model
    if (!application?.id) return
    application.alive = false
    subject.model.effects = 0
    provider.applications.delete(application.id)
  }

  /** Makes the delivery of an event, as the platform sends it. */
  function compose(subject: Subject, event: LifeEvent): LifeDelivery {
    const { id, model, row } = subject
    const inputs = event.inputs && { ...event.inputs, name: `${id} ${event.inputs.name}` }
    if (event.name === 'DEPLOYMENT_CREATED') {
      row.inputs = inputs ?? {}
      model.inputs = event.inputs
    }
    const carrier = event.outputs === 'foreign' ? subjects.find((one) => one !== subject) : subject
    const outputs = event.outputs && carrier?.row.outputs
    const body = {
      name: event.name,
      ...(event.at !== undefined && { timestamp: new Date(began + event.at * 60_000).toISOString() }),
      deployment: {
        id,
        ...(inputs && { inputs }),
        ...(outputs && Object.keys(outputs).length > 0 && { outputs }),
      },
      ...(event.name === 'FUNCTION_CALL' && { functionCall: { name: 'act', arguments: { to: id } } }),
    }
    const carried = event.outputs && carrier?.model.outputs
    const delivery = { id: `evt_${delivered.length}`, route, body, subject, event: { ...event, carried } }
    delivered.push(delivery)
    return delivery
  }

  async function expectDelivery(delivery: LifeDelivery, faults: Faults): Promise<void> {
    const { id, event, subject } = delivery
    const { model, row } = subject
    breakPlatform(faults)
    const sent = await world.send(delivery, faults).finally(platform.faults.clear)
    const now = (Date.now() - began) / 60_000
    if ('taken' in sent) {
      halted.push({ ...sent, delivery, isKnown: model.answers.has(id) })
      model.deliver(id, event, { faults, now, taken: [...sent.taken] })
      return expectTakeover(delivery, sent)
    }
    const { status = 'ok', code, outputs } = Object(sent.body)
    const answer = sent.status === 200 ? status : code
    answers.add(answer)
    expect(answer, JSON.stringify(sent.body)).toBe(model.deliver(id, event, { faults, now }))
    // The store may have given a claim whose answer was lost.
    if (answer === 'overloaded') outlastLease()
    if (answer === 'running' && !model.held) expect(outputs.applicationId).toBe(row.outputs.applicationId)
    for (const one of subjects) expectAgreement(one)
  }

  function breakPlatform({ platform: fault, callbacks = 'all' }: Faults): void {
    const paths = { all: /./, read: /^\/deployments\/[^/]+$/, status: /status$/, outputs: /outputs$/ }
    const selected = { path: paths[callbacks], times: Number.POSITIVE_INFINITY }
    if (fault === 'gone') platform.faults.add({ ...selected, status: 404, body: { title: 'It is gone.' } })
    if (fault === 'away') platform.faults.add({ ...selected, status: 503 })
  }

  /** While a halted host holds its claim, nobody else works on it; then the next delivery takes over. */
  async function expectTakeover(delivery: LifeDelivery, { taken }: Halted): Promise<void> {
    const { id, event, subject } = delivery
    const { model } = subject
    for (const one of subjects) expectAgreement(one)
    const isHeld = !taken.includes('complete') && !taken.includes('release')
    if (isHeld) model.held = event.name === 'FUNCTION_CALL' ? id : 'deployment'
    await expectDelivery(delivery, {})
    const answered = findAnswered(subject)
    for (const one of new Set([answered.at(0), answered.at(-1)])) if (one) await expectDelivery(one, {})
    outlastLease()
    model.held = undefined
  }

  function findAnswered(subject: Subject): LifeDelivery[] {
    return delivered.filter((one) => one.subject === subject && subject.model.answers.has(one.id))
  }

  /** The platform and the provider have what the model has. */
  function expectAgreement({ id, model, row }: Subject): void {
    const { application, shown, outputs } = model
    const own = [...provider.applications.values()].filter(({ name }) => name.startsWith(`${id} `))
    const effects = own.reduce((sum, { users }) => sum + users, provider.mails.get(id) ?? 0)
    if (application?.alive) application.id ??= own[0]?.id
    const { name, token } = application ?? {}
    const { outputs: published } = row
    const connection = published.name && `${published.name} ${published.token}`.replace(/^\S+ /, '')
    expect({
      status: row.status,
      published: published.applicationId ?? connection,
      applications: own.map(({ users: _, ...one }) => one),
      effects,
    }).toEqual({
      status: shown,
      published: outputs?.id,
      applications: application?.alive ? [{ id: application.id, name: `${id} ${name}`, token }] : [],
      effects: model.effects,
    })
  }

  /** A host that wakes after its lease changes nothing, and does not say that it did. */
  async function expectNothingLate({ wake, taken, delivery, isKnown }: (typeof halted)[number]) {
    const late = await wake()
    expect(late.taken.filter((step) => step !== 'release')).toEqual([])
    const isEnded = isKnown || taken.includes('complete') || !delivery.event.name.startsWith('DEPLOYMENT')
    if (!isEnded) expect(late.status, JSON.stringify(late.body)).not.toBe(200)
  }

  /** If the platform delivers the last answered event again, what got lost heals. */
  async function expectHealed(subject: Subject): Promise<void> {
    const answered = findAnswered(subject).at(-1)
    if (!answered) return
    await expectDelivery(answered, {})
    const { model, row } = subject
    expect(row.status).toBe(model.status ?? model.shown)
  }
}

/** A run that meets only some of the rules proves only those. */
const rules = 16

it(`random lives of deployments agree with the model of the contract, from seed ${seed}`, {
  timeout,
}, async () => {
  const of = often<0 | 1>(0, 1)
  const byHand = fc.constant('application deleted by hand')
  const step = weighted<Step>(
    [10, fc.record({ of, event: anyEvent, faults: anyFaults })],
    [3, fc.record({ again: fc.nat({ max: 20 }), faults: anyFaults })],
    [1, fc.record({ of, event: byHand, faults: fc.constant({}) })],
  )
  const steps = fc.array(step, { maxLength: 20, size: 'max' })
  const answers = new Set<Answer>()
  const property = fc.asyncProperty(often<Route>('owning', 'connected'), steps, (route, steps) =>
    live(route, steps, answers),
  )
  for (let round = 0; answers.size < rules && round < 5; round += 1)
    await fc.assert(property, { seed: seed + round, numRuns: lives })
  expect([...answers].sort()).toHaveLength(rules)
})

it(`a call and a batch happen once, whatever the store loses and whenever their hosts halt, from seed ${seed}`, {
  timeout,
}, async () => {
  const calls = fc.constantFrom(
    { name: 'act', arguments: { to: 'Ada' } },
    { name: 'actOnAll', arguments: { to: ['Ada', 'Bo', 'Cy'] } },
  )
  const attempts = fc.array(callFaults, { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(calls, attempts, async (functionCall, attempts) => {
    const { platform, provider, send } = createWorld()
    platform.addDeployment({ id: 'dep_1' })
    const body = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    const delivery: Delivery = { id: 'evt_1', route: 'connected', body }
    let hasHalted = false
    for (const faults of attempts) {
      hasHalted = 'taken' in (await send(delivery, faults)) || hasHalted
      // The store may have given a claim whose answer was lost.
      outlastLease()
    }
    const { result: told = {} } = Object(Object(await send(delivery, {})).body)
    for (const to of [functionCall.arguments.to].flat()) {
      const sent = provider.mails.get(to) ?? 0
      expect([to, sent <= 1, hasHalted || sent === 1]).toEqual([to, true, true])
      expect(hasHalted && told[to] !== 'sent' ? ['unknown', undefined] : ['sent']).toContain(told[to])
      if (told[to] === 'sent') expect(sent).toBe(1)
    }
  })
  await fc.assert(property, { seed, numRuns: lives })
})
