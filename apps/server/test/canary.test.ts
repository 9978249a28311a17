/** Secrets and personal data, everywhere that a host may write. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createJsonLogger } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import type { Fault } from '@org/core/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { routes, validEvents } from './corpus.ts'
import { calling, createFolder, credentials, mail, type Sent, samples, startHost } from './hosted.ts'

const secret = credentials.webhookSecret
const environment = {
  TENANT_MAIL_TOKEN: credentials.tenantMailToken,
  DATABASE_URL: 'postgres://canary-user:canary-of-the-database@db.test/',
}
const secrets = [
  ...[...Object.values(credentials), environment.DATABASE_URL, 'canary-password "\\é'],
  ...samples.flatMap((sample) => sample.credentials),
]
/** A response may contain personal data; a log or the store must not. Too long to occur by chance. */
const personal = [
  ...['ada@example.com', 'bob@example.com', 'bcc@example.com'],
  ...['CanarySurname', '+15555550123', 'canary subject', 'canary words'],
]
const invalidCalls = [
  calling('ada@example.com'),
  calling('createUser', { 'ada@example.com': 1 }),
  calling('sendEmails', { messages: [{ ...mail, to: 'CanarySurname' }] }),
]

/** A value as a provider may quote it. The redactor's own tests have further spellings. */
const quotesOf = (canary: string) => [
  `(${canary})`,
  JSON.stringify(canary),
  `?key=${encodeURIComponent(canary)}`,
  `Bearer ${Buffer.from(canary).toString('base64')}`,
]

/** How a text may hold a value. Not the redactor’s, so that neither hides a mistake of the other. */
function spellingsOf(canary: string): string[] {
  const json = JSON.stringify(canary).slice(1, -1)
  const twice = JSON.stringify(json).slice(1, -1)
  // Without the end, which depends on the characters behind it.
  const base64 = Buffer.from(canary).toString('base64').slice(0, -4)
  return [canary, json, twice, encodeURIComponent(canary), base64]
}

/** The texts that hold one of the values, shortened. */
function findTexts(canaries: readonly string[], texts: readonly string[]): string[] {
  const spellings = canaries.flatMap(spellingsOf)
  const holders = texts.filter((text) => spellings.some((spelling) => text.includes(spelling)))
  return holders.map((text) => text.slice(0, 2_000))
}

/** A response that repeats the whole request, and other secrets of the host, in the format of each provider’s errors. */
function quoteBack({ url, headers, text }: Sent, status: number): Response {
  const words = [url, ...headers.values(), text, credentials.platformToken, secret]
  const message = [...words.flatMap(quotesOf), ...words].join(' ')
  const errors = [{ code: 'x', message, long_message: message }]
  const refusal = { ErrorCode: status === 200 ? 300 : 10, Message: message, errors, detail: message }
  const isBatch = url.endsWith('/email/batch') && status === 200
  return Response.json(isBatch ? JSON.parse(text).map(() => refusal) : refusal, { status })
}

/** A response or callback without the outputs and files that it publishes. */
function withoutPublished(body: unknown): unknown {
  const { status, outputs, files, ...others } = Object(body)
  return files || (status === 'running' && outputs) ? { status, ...others } : body
}

const hosts = { mail: 'mail.test', workspace: 'idp.test', platform: 'platform.test' }
const folder = createFolder()
const store = sqliteStore({ file: join(folder, 'deliveries.db') })

/** A fault of one server in every request, or the status of a response that repeats the request. */
type Failure = [at: keyof typeof hosts, behaviour: Fault | number]

/** Sends every event on every route, with and without a deployment, while a server may have a fault. */
async function sendEverything(failure?: Failure) {
  const log: string[] = []
  const responses: string[] = []
  const { world, send } = startHost({
    variables: { PLATFORM_WEBHOOK_SECRET: secret },
    // So short that no event waits for a provider that breaks every write.
    requestTimeoutMs: failure ? 300 : undefined,
    environment,
    store,
    logger: createJsonLogger('debug', (line) => log.push(line)),
  })
  world.mail.inactive.add('ada@example.com')
  if (failure) {
    const [at, behaviour] = failure
    if (typeof behaviour === 'number')
      world.overrides.set(hosts[at], (request) => quoteBack(request, behaviour))
    else world[at].faults.add({ ...behaviour, times: Number.POSITIVE_INFINITY })
  }
  const run = crypto.randomUUID()

  async function sendToRoute(route: string): Promise<void> {
    const events = validEvents.flatMap((valid) => (valid.route === route ? [valid.event] : []))
    const { inputs, outputs } = events[0]?.deployment ?? {}
    const id = `dep-${route}-${run}`
    world.platform.addDeployment({ id, inputs: { ...inputs } })
    // The host reads missing inputs from the platform; without a deployment, it uses the shared credentials.
    const deployments = [{ id, inputs }, { id }, { id: `own-${id}`, inputs, outputs }, undefined]
    async function deliver(event: object): Promise<void> {
      const delivery = { id: crypto.randomUUID(), secret }
      // The second response is a replay.
      for (const _ of failure ? [1] : [1, 2])
        responses.push(JSON.stringify(withoutPublished((await send(route, event, delivery)).body)))
    }
    const others = events.filter(({ name }) => !name.startsWith('DEPLOYMENT_'))
    for (const phase of [
      events.filter(({ name }) => name === 'DEPLOYMENT_CREATED'),
      [...others, ...invalidCalls],
      events.filter(({ name }) => name === 'DEPLOYMENT_DELETED'),
    ])
      await Promise.all(
        phase.flatMap((event) => deployments.map((deployment) => deliver({ ...event, deployment }))),
      )
  }
  await Promise.all(routes.map(sendToRoute))
  const callbacks = world.platform.calls.filter(({ path }) => !path.endsWith('/outputs'))
  return {
    log,
    responses,
    callbacks: callbacks.map(({ path, idempotencyKey, body }) =>
      JSON.stringify([path, idempotencyKey, withoutPublished(body)]),
    ),
    effects: world.mail.messages.length + world.backend.users.size + world.workspace.applications.size,
  }
}

describe('a secret', () => {
  afterAll(() => store.close())

  it('is found by this suite in every encoding that a provider may quote', () => {
    for (const each of secrets) expect(findTexts([each], quotesOf(each))).toHaveLength(4)
  })

  it.each<[name: string, failure?: Failure]>([
    ['everything works'],
    ['the mail server accepts each request and quotes it in a refusal', ['mail', 200]],
    ['the mail server refuses each request and quotes it', ['mail', 422]],
    ['the mail server breaks and quotes each request', ['mail', 500]],
    ['the mail server cuts each connection', ['mail', { cut: 'after' }]],
    ['the identity provider refuses each request and quotes it', ['workspace', 422]],
    ['the platform refuses each request and quotes it', ['platform', 422]],
  ])('stays out of logs, responses, callbacks and the store while %s', async (_, failure) => {
    const { log, responses, callbacks, effects } = await sendEverything(failure)
    for (const list of [log, responses]) expect(list.length).toBeGreaterThan(failure ? 35 : 250)
    if (!failure) expect(effects).toBeGreaterThan(20)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
    expect(findTexts(secrets, [...log, ...responses, ...callbacks, ...files])).toEqual([])
    expect(findTexts(personal, [...log, ...files])).toEqual([])
  })
})
