/** Secrets and personal data, everywhere that a host may write. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createJsonLogger } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { afterAll, expect, it } from 'vitest'
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
const quote = (word: string) =>
  `(${word}) ${JSON.stringify(word)} ?key=${encodeURIComponent(word)} Bearer ${Buffer.from(word).toString('base64')}`

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
  const message = [...words.map(quote), ...words].join(' ')
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

const folder = createFolder()
const store = sqliteStore({ file: join(folder, 'deliveries.db') })
afterAll(() => store.close())

const phases = [
  validEvents.filter(({ event }) => event.name === 'DEPLOYMENT_CREATED'),
  [
    ...validEvents.filter(({ event }) => !event.name.startsWith('DEPLOYMENT_')),
    ...routes.flatMap((route) => invalidCalls.map((event) => ({ route, event }))),
  ],
  validEvents.filter(({ event }) => event.name === 'DEPLOYMENT_DELETED'),
]

/** Sends every event on every route, with and without a deployment, while a server may answer each request with a status. */
async function sendEverything(server?: string, status = 0) {
  const log: string[] = []
  const { host, world, send } = startHost({
    variables: { PLATFORM_WEBHOOK_SECRET: secret },
    // So short that no event waits for a provider that breaks every write.
    requestTimeoutMs: server ? 300 : undefined,
    environment,
    store,
    logger: createJsonLogger('debug', (line) => log.push(line)),
  })
  world.mail.inactive.add('ada@example.com')
  if (server) world.overrides.set(server, (request) => quoteBack(request, status))
  const responses: string[] = []
  async function deliver(route: string, event: object): Promise<void> {
    const delivery = { id: crypto.randomUUID(), secret }
    // The second response is a replay.
    for (const _ of server ? [1] : [1, 2])
      responses.push(JSON.stringify(withoutPublished((await send(route, event, delivery)).body)))
  }
  const run = crypto.randomUUID()
  /** The host reads missing inputs from the platform; without a deployment, it uses the shared credentials. */
  function deploymentsOf(route: string) {
    const id = `dep-${route}-${run}`
    const { inputs, outputs } = validEvents.find((valid) => valid.route === route)?.event.deployment ?? {}
    world.platform.addDeployment({ id, inputs: { ...inputs } })
    return [{ id, inputs }, { id }, { id: `own-${id}`, inputs, outputs }, undefined]
  }
  const deployments = new Map(routes.map((route) => [route, deploymentsOf(route)]))
  for (const events of phases)
    await Promise.all(
      events.flatMap(({ route, event }) =>
        (deployments.get(route) ?? []).map((deployment) => deliver(route, { ...event, deployment })),
      ),
    )
  await host.fetch(new Request(`http://host.test/nowhere/${secret}`))
  const callbacks = world.platform.calls
    .filter(({ path }) => !path.endsWith('/outputs'))
    .map(({ path, idempotencyKey, body }) => JSON.stringify([path, idempotencyKey, withoutPublished(body)]))
  const effects = world.mail.messages.length + world.backend.users.size + world.workspace.applications.size
  return { log, responses, callbacks, effects }
}

it.each<[name: string, server?: string, status?: number]>([
  ['everything works'],
  ['the mail server accepts each request and quotes it in a refusal', 'mail.test', 200],
  ['the mail server refuses each request and quotes it', 'mail.test', 422],
  ['the mail server breaks and quotes each request', 'mail.test', 500],
  ['the identity provider refuses each request and quotes it', 'idp.test', 422],
  ['the platform refuses each request and quotes it', 'platform.test', 422],
])(
  'no log, response, callback or record shows a secret, and no log or record personal data, while %s',
  async (...row) => {
    const [, server, status] = row
    const { log, responses, callbacks, effects } = await sendEverything(server, status)
    for (const list of [log, responses]) expect(list.length).toBeGreaterThan(server ? 35 : 250)
    if (!server) expect(effects).toBeGreaterThan(20)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
    expect(findTexts(secrets, [...log, ...responses, ...callbacks, ...files])).toEqual([])
    expect(findTexts(personal, [...log, ...files])).toEqual([])
  },
)
