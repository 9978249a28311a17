/**
 * Random lives of deployments on the built host, beside a model of the contract. `SEED` repeats a run, and `LIVES`
 * sets the size of a round. A failure prints the shortest life that shows it.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  anyEvent,
  anyWeather,
  type Inputs,
  type LifeEvent,
  often,
  type Weather,
  weighted,
} from './life-events.ts'
import type { Answer } from './life-model.ts'
import { Provisioned, workspaceOf } from './life-providers.ts'
import { compose, type Life, type Route, startWorld } from './life-world.ts'

const lives = Number(process.env.LIVES ?? 400)
/** A round that meets only some of the answers is followed by another one. */
const ROUNDS = 5
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
/** Lives that go on at the same time. */
const LANES = 16

let world: Awaited<ReturnType<typeof startWorld>>
const tally = { events: 0, orphans: 0, revived: 0, dropped: 0 }
const answers = new Map<Answer, number>()

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

type Command = fc.AsyncCommand<object, Life>

/** Delivers an event, or an earlier delivery again. */
class Deliver implements Command {
  readonly of: 0 | 1
  readonly event: LifeEvent | { again: number }
  readonly weather: Weather

  constructor(of: 0 | 1, event: Deliver['event'], weather: Weather) {
    this.of = of
    this.event = event
    this.weather = weather
  }

  check() {
    return true
  }

  async run(_: object, life: Life) {
    const { event, weather } = this
    const subject = life.subjects[this.of]
    const delivery =
      'again' in event
        ? life.delivered.at(event.again % Math.max(1, life.delivered.length))
        : subject && compose(life, subject, event)
    if (delivery) await expectDelivery(life, delivery, weather)
  }

  toString() {
    return JSON.stringify({ of: 'ab'[this.of], ...this.event, ...this.weather })
  }
}

/** A person deletes the application at the provider. */
class DeleteByHand implements Command {
  readonly of: 0 | 1

  constructor(of: 0 | 1) {
    this.of = of
  }

  check() {
    return true
  }

  async run(_: object, life: Life) {
    const model = life.subjects[this.of]?.model
    if (!(model instanceof Provisioned) || !model.application) return
    Object.assign(model.application, { alive: false })
    model.effects = 0
    world.provider.removeApplication(life.applicationIds.get(model.application) ?? '')
  }

  toString() {
    return JSON.stringify({ of: 'ab'[this.of], deleted: 'by hand' })
  }
}

async function expectDelivery(life: Life, delivery: Life['delivered'][number], weather: Weather) {
  const { id, event, subject } = delivery
  const { status, body } = await world.send(life.route, delivery, subject.id, weather)
  const { model } = subject
  const expected = model.deliver(id, event, weather)
  const { status: told = 'ok', code, outputs } = Object(body)
  const answer = status === 200 ? told : code
  tally.events += 1
  answers.set(answer, (answers.get(answer) ?? 0) + 1)
  expect(answer, JSON.stringify(body)).toBe(expected)
  if (answer === 'running') {
    expect(outputs.applicationId).toBe(subject.row.outputs.applicationId)
  }
  for (const one of life.subjects) expectAgreement(life, one)
}

/** The platform and the provider have what the model has. */
function expectAgreement(life: Life, { id, model, row }: Life['subjects'][number]) {
  expect({ id, status: row.status }).toEqual({ id, status: model.shown })
  if (!(model instanceof Provisioned)) {
    const { outputs } = model
    expect(row.outputs.fromEmail).toBe(outputs && `${outputs.name}@example.com`)
    expect(row.outputs.apiToken).toBe(outputs && `mail_${outputs.token}`)
    const sent = world.mail.messages.filter(({ to }) => to.includes(`${id}@example.com`))
    expect(sent).toHaveLength(model.effects)
    return
  }
  const { application } = model
  const found = world.applicationsOf(id)
  const users = (instanceId = '') => world.provider.backend.instances.get(instanceId)?.users.size
  expect(
    found.map(({ workspace, name, template, domain, instances: [instance] }) => ({
      workspace,
      name,
      template,
      domain,
      environmentType: instance?.environmentType,
      users: users(instance?.id),
    })),
  ).toEqual(application?.alive ? [ledgerEntry(life, id, application, model.effects)] : [])
  if (application && found[0]) life.applicationIds.set(application, found[0].applicationId)
  expect(row.outputs.applicationId).toBe(model.outputs && life.applicationIds.get(model.outputs))
}

function ledgerEntry({ life }: Life, id: string, { name, token, ...settings }: Inputs, users: number) {
  const { template, environmentType } = settings
  return {
    workspace: token === 'host' ? 'host' : `${life}_${workspaceOf(token)}`,
    name: `${id} ${name}`,
    template,
    domain: environmentType === 'production' ? `${settings.domain}.${id}.example.com` : undefined,
    environmentType,
    users,
  }
}

/** After the last event, the platform delivers the last answered one again: what got lost heals. */
async function expectHealed(life: Life) {
  for (const subject of life.subjects) {
    const done = life.delivered.findLast(
      (one) =>
        one.subject === subject &&
        one.event.name.startsWith('DEPLOYMENT') &&
        subject.model.answers.has(one.id),
    )
    if (!done) continue
    await expectDelivery(life, done, {})
    const { model, row, id } = subject
    expect(row.status).toBe(model.status ?? model.shown)
    const names = world.applicationsOf(id).map(({ name }) => name)
    const wanted = model instanceof Provisioned && model.application?.alive && model.application.name
    tally.orphans += names.length - (wanted ? 1 : 0)
    if (model.deleted && row.status !== 'stopped') tally.revived += 1
    if (wanted && !names.includes(`${id} ${wanted}`)) tally.dropped += 1
  }
}

const allAnswers = [
  ...['credentials_rejected', 'deployment_deleted', 'healthy', 'ignored', 'invalid_event', 'invalid_inputs'],
  ...[
    'missing_credentials',
    'ok',
    'platform_unavailable',
    'provider_rejected',
    'provider_timeout',
    'running',
  ],
  ...['stopped', 'unhealthy'],
]

const which = often<0 | 1>(0, 1)
const earlier = fc.record({ again: fc.nat({ max: 20 }) })
const life = fc.commands<object, Life, false>(
  [
    weighted<Command>(
      [10, fc.tuple(which, anyEvent, anyWeather).map((given) => new Deliver(...given))],
      [3, fc.tuple(which, earlier, anyWeather).map((given) => new Deliver(...given))],
      [1, which.map((of) => new DeleteByHand(of))],
    ),
  ],
  { maxCommands: 12, size: 'max' },
)

async function live(route: Route, commands: Iterable<Command>) {
  const begun = world.begin(route)
  try {
    await fc.asyncModelRun(() => ({ model: {}, real: begun }), commands)
    await expectHealed(begun)
  } finally {
    world.end(begun)
  }
}

it('random lives of deployments agree with the model of the contract, and meet each of its answers', async () => {
  const started = performance.now()
  console.log(`seed ${seed}`)
  const route = often<Route>('idp-server', 'mailer')
  const numRuns = Math.ceil(lives / LANES)
  let round = 0
  do {
    const first = seed + round * LANES
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      fc.assert(fc.asyncProperty(route, life, live), { seed: first + lane, numRuns }),
    )
    await Promise.all(lanes)
    round += 1
  } while (answers.size < allAnswers.length && round < ROUNDS)
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(`${round * lives} lives in ${seconds} s`, tally, Object.fromEntries(answers))
  expect(tally).toMatchObject({ orphans: 0, revived: 0, dropped: 0 })
  // A life that meets only some of the rules proves only those.
  expect([...answers.keys()].sort()).toEqual(allAnswers)
}, 300_000)
