import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJsonLogger } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { deliver, type Fault } from '@org/core/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { findCanaries, quotesOf } from './canary.ts'
import { routes, validEvents } from './corpus.ts'
import { calling, createWorld, credentials, mail, type Sent } from './hosted.ts'
import { isNightly } from './nightly.ts'
import { sampleMakers } from './samples.ts'
import { exporter, traceTests } from './traced.ts'

const secret = credentials.webhookSecret
const environment = {
  TENANT_MAIL_TOKEN: credentials.tenantMailToken,
  DATABASE_URL: 'postgres://canary-user:canary-of-the-database@db.test/',
  AWS_SECRET_ACCESS_KEY: 'canary-cloud-+/"\\&%=',
}
const secrets = [
  ...new Set([
    ...Object.values({ ...credentials, ...environment }),
    ...sampleMakers.flatMap((createSample) => createSample().credentials),
    'canary-password "\\é',
  ]),
]
/** A response may contain personal data; a log, a span or the store must not. Too long to occur by chance. */
const personal = [
  ...['ada@example.com', 'bob@example.com', 'bcc@example.com'],
  ...['CanarySurname', '+15555550123', 'canary subject', 'canary words'],
]
const invalidCalls = [
  calling('ada@example.com'),
  calling('createUser', { 'ada@example.com': 1 }),
  calling('sendEmails', { messages: [{ ...mail, to: 'CanarySurname' }] }),
]

/** A fault of one server in every request, or the status of a response that repeats the whole request. */
type Behaviour = Fault | number

const faults: [string, Fault][] = [
  ['by a reset before the request arrives', { cut: 'before' }],
  ['by a reset after the effect', { cut: 'after' }],
  ['by a reset in the response', { cut: 'during' }],
  ['with half of the response', { truncate: true }],
  ['with an HTML page', { html: true }],
  ['with an empty response', { empty: true }],
  ['by silence', { hang: true }],
]
const behaviours: readonly [string, Behaviour][] = [
  ...[200, 400, 401, 404, 422, 429, 500, 503].map((status): [string, number] => [
    `with the status ${status} and quotes the request`,
    status,
  ]),
  ...faults.map(([name, fault]): [string, Fault] => [name, { ...fault, times: Number.POSITIVE_INFINITY }]),
]

/** A response that repeats the whole request in the format of each provider's errors. */
function quoteBack({ url, headers, text }: Sent, status: number): Response {
  const words = [url, ...headers.values(), text]
  const message = [...words.flatMap(quotesOf), ...words].join(' ')
  const errors = [{ code: 'x', message, long_message: message }]
  const refusal = { ErrorCode: status === 200 ? 300 : 10, Message: message, errors, detail: message }
  const isBatch = url.endsWith('/email/batch') && status === 200
  return Response.json(isBatch ? JSON.parse(text).map(() => refusal) : refusal, { status })
}

const hosts = { mail: 'mail.test', workspace: 'idp.test', platform: 'platform.test' }
const folder = mkdtempSync(join(tmpdir(), 'canary-'))
const store = sqliteStore({ file: join(folder, 'deliveries.db') })
const log: string[] = []
const responses: string[] = []
const callbacks: string[] = []
let effects = 0

/** Sends every event on every route, with and without a deployment, while one of the servers has a fault. */
async function sendEverything(behaviour?: Behaviour, at: keyof typeof hosts = 'mail'): Promise<void> {
  const world = createWorld()
  const tracing = createTracing({ secrets: Object.values(credentials) })
  const host = world.start({
    variables: { PLATFORM_WEBHOOK_SECRET: secret },
    // Shorter than a batch waits for a provider that stays silent, or that refuses it for its rate.
    requestTimeoutMs: behaviour === 429 || Object(behaviour).hang ? 200 : undefined,
    environment,
    store,
    tracing,
    logger: tracing.tag(createJsonLogger('debug', (line) => log.push(line))),
  })
  world.mail.inactive.add('ada@example.com')
  if (typeof behaviour === 'number')
    world.overrides.set(hosts[at], (request) => quoteBack(request, behaviour))
  else if (behaviour) world[at].faults.add(behaviour)
  const run = crypto.randomUUID()

  async function deliverEvent(route: string, event: object): Promise<void> {
    const id = `${route}-${crypto.randomUUID()}`
    for (const _ of behaviour === undefined ? [1, 2] : [1]) {
      const { body } = await deliver(host.fetch, event, {
        id,
        secret,
        url: `http://host.test/${route}/webhook`,
      })
      responses.push(JSON.stringify(withoutPublished(body)))
    }
  }

  async function sendToRoute(route: string): Promise<void> {
    const events = validEvents.flatMap((valid) => (valid.route === route ? [valid.event] : []))
    const { inputs, outputs } = events[0]?.deployment ?? {}
    const id = `dep-${route}-${run}`
    world.platform.addDeployment({ id, inputs: { ...inputs } })
    // The host reads missing inputs from the platform; without a deployment, it uses the shared credentials.
    const everyone = [{ id, inputs }, { id }, { id: `own-${id}`, inputs, outputs }, undefined]
    const some = at === 'platform' ? [{ id }] : [{ id, inputs }, undefined]
    const deployments = behaviour === undefined ? everyone : some
    const sendAll = (sent: readonly object[]) =>
      Promise.all(
        sent.flatMap((event) =>
          deployments.map((deployment) => deliverEvent(route, { ...event, deployment })),
        ),
      )
    const isLifecycle = ({ name }: { name: string }) => /^DEPLOYMENT_/.test(name)
    await sendAll(events.filter(({ name }) => name === 'DEPLOYMENT_CREATED'))
    await sendAll([...events.filter((event) => !isLifecycle(event)), ...invalidCalls])
    await sendAll(events.filter(({ name }) => name === 'DEPLOYMENT_DELETED'))
  }
  await Promise.all(routes.map(sendToRoute))
  for (const { path, body, idempotencyKey } of world.platform.calls)
    if (!path.endsWith('/outputs'))
      callbacks.push(JSON.stringify([path, idempotencyKey, withoutPublished(body)]))
  effects += world.mail.messages.length + world.backend.users.size + world.workspace.applications.size
}

/** A response or callback without the outputs and files that it publishes. */
function withoutPublished(body: unknown): unknown {
  const { status, outputs, files, ...others } = Object(body)
  return files || (status === 'running' && outputs) ? { status, ...others } : body
}

function expectNone(canaries: readonly string[], texts: readonly string[]): void {
  if (findCanaries(canaries, texts.join('\n')).length === 0) return
  for (const text of texts) if (findCanaries(canaries, text).length > 0) expect.fail(text.slice(0, 2_000))
}

function expectSilence(events: number): void {
  const spans = exporter
    .getFinishedSpans()
    .map(({ name, attributes, status, events }) => JSON.stringify({ name, attributes, status, events }))
  for (const list of [log, responses, spans]) expect(list.length).toBeGreaterThan(events)
  expectNone(secrets, [...log, ...responses, ...callbacks, ...spans])
  expectNone(personal, [...log, ...spans])
  expect(spans.filter((span) => /\/(users|email|deployments)/.test(span))).toEqual([])
}

describe('a secret', () => {
  traceTests()
  afterAll(() => store.close())
  beforeEach(() => {
    for (const list of [log, responses, callbacks]) list.length = 0
  })

  it('is found by this suite in every encoding that a provider may quote', () => {
    for (const each of secrets)
      for (const quote of quotesOf(each)) expect(findCanaries([each], quote)).toEqual([each])
  })

  // One response that quotes, one that is no JSON and none at all: the others meet the same code, and wait for the night.
  const few = behaviours.filter(([name]) => /422|HTML|silence/.test(name))
  describe.each(['mail', 'workspace', 'platform'] as const)(
    'stays out of logs, spans, responses and callbacks while %s',
    (at) => {
      it.each(at === 'mail' || isNightly ? behaviours : few)('fails %s', async (_, behaviour) => {
        await sendEverything(behaviour, at)
        expectSilence(35)
      })
    },
  )

  it('stays out of logs, spans, responses and callbacks while everything works', async () => {
    await sendEverything()
    expectSilence(250)
  })

  it('stays out of the files of the store', () => {
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
    expectNone([...secrets, ...personal], files)
  })

  it('was used by this suite: it sent mail and created users and applications', () => {
    expect(effects).toBeGreaterThan(50)
  })
})
