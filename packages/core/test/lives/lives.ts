/** Random lives of deployments in a world, beside their model. A failure prints the shortest life that shows it. */
import assert from 'node:assert/strict'
import type { PlatformEmulator } from '@org/core/testing'
import * as fc from 'fast-check'
import { anyEvent, type Faults, type Inputs, type LifeEvent, often, weighted, workspaceOf } from './events.ts'
import { type Answer, type CarryingEvent, Connected, type Deployment } from './model.ts'

/** An integration that owns an application at its provider, or that only connects to it. */
export type Route = 'owning' | 'connected'

interface Delivery {
  id: string
  route: Route
  body: Record<string, unknown>
  subject: Subject
  event: CarryingEvent
}

interface Sent {
  status: number
  body: unknown
}

/** A host that halted in the middle of an event. */
interface Halted {
  /** Its steps until then. */
  taken: string[]
  /** Lets it go on; `taken` has its further steps. */
  wake(): Promise<Sent & { taken: string[] }>
}

export interface Application {
  id: string
  name: string
  plan: string
  workspace: string
}

/** A host, between a platform and providers. */
export interface World {
  platform: PlatformEmulator
  faults: fc.Arbitrary<Faults>
  /** The rules of the integration that owns an application. */
  Owning: new () => Deployment
  /** Begins a life, with tokens and workspaces of its own. */
  begin?(life: string): void
  /** The inputs of an event, and the function that creates a user or sends a mail. */
  inputsOf(route: Route, inputs: Inputs, deployment: string): Record<string, unknown>
  callOf(route: Route, deployment: string): object
  send(delivery: Pick<Delivery, 'id' | 'route' | 'body'>, faults: Faults): Promise<Sent | Halted>
  /** Lets the lease of a halted host pass. */
  outlastLease?(): void
  /** The id of the application, or of the connection, in outputs. */
  identify(outputs: Record<string, unknown>): unknown
  /** The provider's side of a deployment. */
  look(deployment: string): { applications: Application[]; effects: number }
  removeApplication(id: string): void
}

interface Subject {
  id: string
  model: Deployment
  row: ReturnType<PlatformEmulator['addDeployment']>
}

type Step =
  | { of: 0 | 1; event: LifeEvent | 'application deleted by hand'; faults: Faults }
  /** An earlier delivery. */
  | { again: number; faults: Faults }

/** @returns the answers that came */
export async function runLives(world: World, parameters: { seed: number; numRuns: number }) {
  const { platform, faults } = world
  const answers = new Set<Answer>()
  let lives = 0

  async function live(route: Route, steps: Step[]): Promise<void> {
    lives += 1
    const life = `life${lives}`
    world.begin?.(life)
    const began = Date.now()
    const delivered: Delivery[] = []
    const halted: (Halted & { delivery: Delivery; isKnown: boolean })[] = []
    const subjects = [createSubject(`${life}a`), createSubject(`${life}b`)] as const
    try {
      for (const step of steps) await take(step)
      for (const host of halted) await expectNothingLate(host)
      for (const { delivery } of halted) await expectDelivery(delivery, {})
      for (const subject of subjects) await expectHealed(subject)
    } finally {
      for (const { id } of subjects) {
        platform.removeDeployment(id)
        for (const application of world.look(id).applications) world.removeApplication(application.id)
      }
    }

    function createSubject(id: string): Subject {
      const model = route === 'owning' ? new world.Owning() : new Connected()
      return { id, model, row: platform.addDeployment({ id }) }
    }

    async function take(step: Step): Promise<void> {
      if ('again' in step) {
        const again = delivered.at(step.again % Math.max(1, delivered.length))
        return again && expectDelivery(again, step.faults)
      }
      const subject = subjects[step.of]
      if (step.event !== 'application deleted by hand')
        return expectDelivery(compose(subject, step.event), step.faults)
      const { model } = subject
      if (!model.application?.id) return
      Object.assign(model.application, { alive: false })
      model.effects = 0
      world.removeApplication(model.application.id)
    }

    /** Makes the delivery of an event, as the platform sends it. */
    function compose(subject: Subject, event: LifeEvent): Delivery {
      const { id, model, row } = subject
      const inputs = event.inputs && world.inputsOf(route, event.inputs, id)
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
        ...(event.name === 'FUNCTION_CALL' && { functionCall: world.callOf(route, id) }),
      }
      const carried = event.outputs && carrier?.model.outputs
      const delivery = {
        id: `${life}_${delivered.length}`,
        route,
        body,
        subject,
        event: { ...event, carried },
      }
      delivered.push(delivery)
      return delivery
    }

    async function expectDelivery(delivery: Delivery, faults: Faults): Promise<void> {
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
      assert.equal(answer, model.deliver(id, event, { faults, now }), JSON.stringify(sent.body))
      if (answer === 'running' && !model.held) assert.equal(outputs.applicationId, row.outputs.applicationId)
      for (const one of subjects) expectAgreement(one)
    }

    function breakPlatform({ platform: fault, callbacks = 'all' }: Faults): void {
      const paths = { all: /./, read: /^\/deployments\/[^/]+$/, status: /status$/, outputs: /outputs$/ }
      const selected = { path: paths[callbacks], times: Number.POSITIVE_INFINITY }
      if (fault === 'gone') platform.faults.add({ ...selected, status: 404, body: { title: 'It is gone.' } })
      if (fault === 'page') platform.faults.add({ ...selected, status: 404, html: true })
      // Longer than the host has time for: it gives up at once.
      if (fault === 'away')
        platform.faults.add({ ...selected, status: 503, headers: { 'retry-after': '60' } })
    }

    /** While a halted host holds its claim, nobody else works on it; then the next delivery takes over. */
    async function expectTakeover(delivery: Delivery, { taken }: Halted): Promise<void> {
      const { id, event, subject } = delivery
      const { model } = subject
      for (const one of subjects) expectAgreement(one)
      const isHeld = !taken.includes('complete') && !taken.includes('release')
      if (isHeld) model.held = event.name === 'FUNCTION_CALL' ? id : 'deployment'
      await expectDelivery(delivery, {})
      const answered = findAnswered(subject)
      for (const one of new Set([answered.at(0), answered.at(-1)])) if (one) await expectDelivery(one, {})
      world.outlastLease?.()
      model.held = undefined
    }

    function findAnswered(subject: Subject): Delivery[] {
      return delivered.filter((one) => one.subject === subject && subject.model.answers.has(one.id))
    }

    /** The platform and the provider have what the model has. */
    function expectAgreement({ id, model, row }: Subject): void {
      const { applications, effects } = world.look(id)
      const { application, shown, outputs } = model
      if (application?.alive) application.id ??= applications[0]?.id
      const owned = application?.alive && {
        id: application.id,
        name: `${id} ${application.name}`,
        plan: application.plan,
        workspace: workspaceOf(application.token),
      }
      assert.deepEqual(
        { status: row.status, published: world.identify(row.outputs), applications, effects },
        { status: shown, published: outputs?.id, applications: owned ? [owned] : [], effects: model.effects },
      )
    }

    /** A host that wakes after its lease changes nothing, and does not say that it did. */
    async function expectNothingLate({ wake, taken, delivery, isKnown }: (typeof halted)[number]) {
      const late = await wake()
      const steps = late.taken.filter((step) => step !== 'release')
      assert.deepEqual(steps, [], delivery.id)
      const isEnded = isKnown || taken.includes('complete') || !delivery.event.name.startsWith('DEPLOYMENT')
      if (!isEnded) assert.notEqual(late.status, 200, `${delivery.id}: ${JSON.stringify(late.body)}`)
    }

    /** If the platform delivers the last answered event again, what got lost heals. */
    async function expectHealed(subject: Subject): Promise<void> {
      const answered = findAnswered(subject).at(-1)
      if (!answered) return
      await expectDelivery(answered, {})
      const { model, row } = subject
      assert.equal(row.status, model.status ?? model.shown)
    }
  }

  const of = often<0 | 1>(0, 1)
  const byHand = fc.constant('application deleted by hand')
  const step = weighted<Step>(
    [10, fc.record({ of, event: anyEvent, faults })],
    [3, fc.record({ again: fc.nat({ max: 20 }), faults })],
    [1, fc.record({ of, event: byHand, faults: fc.constant({}) })],
  )
  const steps = fc.array(step, { maxLength: 20, size: 'max' })
  await fc.assert(fc.asyncProperty(often<Route>('owning', 'connected'), steps, live), parameters)
  return answers
}
