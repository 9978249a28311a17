/** Secrets and personal data, everywhere that a host may write. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJsonLogger } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { deliver, type Fault } from '@org/core/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createTracing } from '../src/tracing.ts'
import { routes, validEvents } from './corpus.ts'
import { calling, createWorld, credentials, mail, type Sent, samples } from './hosted.ts'
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
    ...samples.flatMap((sample) => sample.credentials),
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

/** A value in every encoding in which a provider may quote it. */
const quotesOf = (canary: string) => [
  `(${canary})`,
  JSON.stringify(canary),
  `?key=${encodeURIComponent(canary)}`,
  `Basic ${Buffer.from(`user:${canary}`).toString('base64')}`,
  `Bearer ${Buffer.from(canary).toString('base64')}`,
]

/** Every spelling in which a text may hold a value. Not the redactor’s, so that neither hides a mistake of the other. */
function spellingsOf(canary: string): string[] {
  const json = JSON.stringify(canary).slice(1, -1)
  const encoded = ['', '-', '--'].flatMap((before) =>
    (['base64', 'base64url'] as const).map((encoding) =>
      // Without the characters at both ends that depend on the neighbours.
      Buffer.from(before + canary)
        .toString(encoding)
        .slice(before === '' ? 0 : 4, -4),
    ),
  )
  const twice = JSON.stringify(json).slice(1, -1)
  return [canary, json, twice, encodeURIComponent(canary), encodeURI(canary), ...encoded]
}

/** The texts that hold one of the values, shortened. */
function findTexts(canaries: readonly string[], texts: readonly string[]): string[] {
  const spellings = canaries.flatMap(spellingsOf)
  return texts
    .filter((text) => spellings.some((spelling) => text.includes(spelling)))
    .map((text) => text.slice(0, 2_000))
}

/** A response that repeats the whole request in the format of each provider’s errors. */
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

/** A fault of one server in every request, or the status of a response that repeats the request. */
interface Failure {
  at: keyof typeof hosts
  behaviour: Fault | number
}

/** Sends every event on every route, with and without a deployment, while a server may have a fault. */
async function sendEverything(failure?: Failure): Promise<void> {
  const world = createWorld()
  const tracing = createTracing({ secrets: Object.values(credentials) })
  const host = world.start({
    variables: { PLATFORM_WEBHOOK_SECRET: secret },
    // So short that no event waits for a provider that stays silent, or that breaks every write.
    requestTimeoutMs: failure ? 300 : undefined,
    environment,
    store,
    tracing,
    logger: tracing.tag(createJsonLogger('debug', (line) => log.push(line))),
  })
  world.mail.inactive.add('ada@example.com')
  if (failure) {
    const { at, behaviour } = failure
    if (typeof behaviour === 'number')
      world.overrides.set(hosts[at], (request) => quoteBack(request, behaviour))
    else world[at].faults.add({ ...behaviour, times: Number.POSITIVE_INFINITY })
  }
  const run = crypto.randomUUID()

  async function deliverEvent(route: string, event: object): Promise<void> {
    const id = `${route}-${crypto.randomUUID()}`
    for (const _ of failure ? [1] : [1, 2]) {
      const url = `http://host.test/${route}/webhook`
      const { body } = await deliver(host.fetch, event, { id, secret, url })
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
    const some = failure?.at === 'platform' ? [{ id }] : [{ id, inputs }, undefined]
    const sendAll = (sent: readonly object[]) =>
      Promise.all(
        sent.flatMap((event) =>
          (failure ? some : everyone).map((deployment) => deliverEvent(route, { ...event, deployment })),
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
  // Under a short time limit, their number depends on the machine.
  if (!failure)
    effects = world.mail.messages.length + world.backend.users.size + world.workspace.applications.size
}

/** A response or callback without the outputs and files that it publishes. */
function withoutPublished(body: unknown): unknown {
  const { status, outputs, files, ...others } = Object(body)
  return files || (status === 'running' && outputs) ? { status, ...others } : body
}

function expectSilence(events: number): void {
  const spans = exporter
    .getFinishedSpans()
    .map(({ name, attributes, status, events }) => JSON.stringify({ name, attributes, status, events }))
  for (const list of [log, responses, spans]) expect(list.length).toBeGreaterThan(events)
  expect(findTexts(secrets, [...log, ...responses, ...callbacks, ...spans])).toEqual([])
  expect(findTexts(personal, [...log, ...spans])).toEqual([])
  expect(spans.filter((span) => /\/(users|email|deployments)/.test(span))).toEqual([])
}

describe('a secret', () => {
  traceTests()
  afterAll(() => store.close())
  beforeEach(() => {
    for (const list of [log, responses, callbacks]) list.length = 0
  })

  it('is found by this suite in every encoding that a provider may quote', () => {
    for (const each of secrets) expect(findTexts([each], quotesOf(each))).toHaveLength(5)
  })

  it.each<[at: Failure['at'], name: string, Failure['behaviour']]>([
    ['mail', 'accepts the request and quotes it in a refusal', 200],
    ['mail', 'refuses the request and quotes it', 422],
    ['mail', 'breaks and quotes the request', 500],
    ['mail', 'cuts the connection after the effect', { cut: 'after' }],
    ['mail', 'answers with a page', { html: true }],
    ['mail', 'is silent', { hang: true }],
    ['workspace', 'refuses the request and quotes it', 422],
    ['workspace', 'answers with a page', { html: true }],
    ['workspace', 'is silent', { hang: true }],
    ['platform', 'refuses the request and quotes it', 422],
    ['platform', 'answers with a page', { html: true }],
    ['platform', 'is silent', { hang: true }],
  ])('stays out of logs, spans, responses and callbacks while the %s server %s', async (at, _, behaviour) => {
    await sendEverything({ at, behaviour })
    expectSilence(35)
  })

  it('stays out of logs, spans, responses and callbacks while everything works', async () => {
    await sendEverything()
    expectSilence(250)
  })

  it('stays out of the files of the store, which has many effects', () => {
    expect(effects).toBeGreaterThan(20)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
    expect(findTexts([...secrets, ...personal], files)).toEqual([])
  })
})
