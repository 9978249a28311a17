import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from '@org/core/stores/sqlite'
import { deliver, type Fault } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogger } from '../src/runtimes/logger.ts'
import { findCanaries, quotesOf } from './canary.ts'
import { calling, createWorld, type Sent } from './hosted.ts'

// With characters that each encoding writes differently, if the kind of secret allows them.
const canary = (kind: string) => `canary-${kind}-+/"\\&%=`
const secrets = {
  platformToken: canary('platform'),
  webhookSecret: `whsec_${btoa('canary of the webhooks')}`,
  mailToken: canary('mail'),
  secretKey: 'sk_test_canaryShared0123456789',
  accessToken: canary('workspace'),
  tenantMailToken: canary('tenant-mail'),
  tenantSecretKey: 'sk_test_canaryTenant0123456789',
  tenantAccessToken: canary('tenant-workspace'),
}
const environment = {
  TENANT_MAIL_TOKEN: secrets.tenantMailToken,
  TENANT_SECRET_KEY: secrets.tenantSecretKey,
  TENANT_ACCESS_TOKEN: secrets.tenantAccessToken,
  DATABASE_URL: 'postgres://canary-user:canary-of-the-database@db.test/',
  AWS_SECRET_ACCESS_KEY: canary('cloud'),
}
const message = {
  to: 'Ada CanarySurname <ada.canary@example.com>',
  cc: 'bob.canary@example.com',
  subject: 'canary subject',
  textBody: 'canary words',
}
const change = { lastName: 'CanarySurname', password: 'canary-password "\\é' }
const contact = { emailAddress: 'ada.canary@example.com', phoneNumber: '+15555550123' }
const allSecrets = [...new Set([...Object.values({ ...secrets, ...environment }), change.password])]
/** A response may contain personal data; a log or the store must not. */
const personal = [
  ...[contact.emailAddress, contact.phoneNumber, change.lastName],
  ...[message.cc, message.subject, message.textBody],
]

const mailCalls = [
  calling('sendEmail', message),
  calling('sendEmails', { messages: [message, { ...message, to: 'not an address' }] }),
  calling('getDeliveryStats'),
]
const userCalls = [
  calling('createUser', { ...change, ...contact }),
  calling('listUsers', { query: contact.emailAddress }),
  calling('updateUser', { userId: 'user_1', ...change }),
  calling(contact.emailAddress),
  calling('createUser', { [contact.emailAddress]: 1 }),
]
const inputsByRoute: Record<string, object> = {
  auth: {},
  mailer: { serverType: 'dedicated', apiToken: '{{env.TENANT_MAIL_TOKEN}}', fromEmail: 'shop@example.com' },
  idp: { serverType: 'dedicated', secretKey: '{{env.TENANT_SECRET_KEY}}' },
  'idp-server': { applicationName: 'Shop', platformApiKey: '{{env.TENANT_ACCESS_TOKEN}}' },
}

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
  const world = createWorld(secrets)
  const host = world.start({
    variables: { PLATFORM_WEBHOOK_SECRET: secrets.webhookSecret },
    requestTimeoutMs: typeof behaviour === 'object' && 'hang' in behaviour ? 200 : undefined,
    environment,
    store,
    logger: createLogger({ logLevel: 'debug' }, { write: (line) => log.push(line) }),
  })
  world.mail.inactive.add(contact.emailAddress)
  if (typeof behaviour === 'number')
    world.overrides.set(hosts[at], (request) => quoteBack(request, behaviour))
  else if (behaviour) world[at].faults.add(behaviour)
  const run = crypto.randomUUID()

  async function sendToRoute([route, inputs]: [string, object]): Promise<void> {
    const keys = route === 'idp' ? { publishableKey: world.own?.publishableKey } : {}
    const deployment = { id: `dep-${route}-${run}`, inputs: { ...inputs, ...keys } }
    world.platform.addDeployment(deployment)
    const outputs = { apiToken: secrets.tenantMailToken, secretKey: secrets.tenantSecretKey }
    // The host reads missing inputs from the platform; without a deployment, it uses the shared credentials.
    const known = { deployment: { id: deployment.id } }
    const everyone = [{ deployment }, known, { deployment: { ...deployment, id: `own-${run}`, outputs } }, {}]
    const targets = behaviour === undefined ? everyone : at === 'platform' ? [known] : [{ deployment }, {}]
    const download = { id: 'dl_1', file: '.env.local' }
    const sendAll = (...events: object[]) =>
      Promise.all(
        events.flatMap((event) =>
          targets.map(async (target) => {
            const id = `${route}-${crypto.randomUUID()}`
            const options = { id, secret: secrets.webhookSecret, url: `http://host.test/${route}/webhook` }
            for (const _ of behaviour === undefined ? [1, 2] : [1]) {
              const { body } = await deliver(host.fetch, { ...event, ...target, download }, options)
              responses.push(JSON.stringify(withoutPublished(body)))
            }
          }),
        ),
      )
    await sendAll({ name: 'DEPLOYMENT_CREATED' })
    const reads = ['WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED']
    await sendAll(...reads.map((name) => ({ name })), ...(route === 'mailer' ? mailCalls : userCalls))
    await sendAll({ name: 'DEPLOYMENT_DELETED' })
  }
  await Promise.all(Object.entries(inputsByRoute).map(sendToRoute))
  for (const { path, body, idempotencyKey } of world.platform.calls)
    if (!path.endsWith('/outputs'))
      callbacks.push(JSON.stringify([path, idempotencyKey, withoutPublished(body)]))
  effects += world.mail.messages.length + world.backend.users.size + world.workspace.applications.size
}

/** A response or callback without the outputs and files that it publishes. */
function withoutPublished(body: unknown): unknown {
  const { status, outputs, files } = Object(body)
  return status === 'running' && outputs
    ? { ...Object(body), outputs: undefined }
    : files
      ? { ...Object(body), files: undefined }
      : body
}

function expectNone(canaries: readonly string[], texts: readonly string[]): void {
  if (findCanaries(canaries, texts.join('\n')).length === 0) return
  for (const text of texts) if (findCanaries(canaries, text).length > 0) expect.fail(text.slice(0, 2_000))
}

function expectSilence(events: number): void {
  expect(responses.length).toBeGreaterThan(events)
  expect(log.length).toBeGreaterThan(events)
  expectNone(allSecrets, [...log, ...responses, ...callbacks])
  expectNone(personal, log)
}

describe('a secret', () => {
  beforeAll(() => {
    // The pause between two attempts is random, up to a limit: this makes it none.
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterAll(() => {
    vi.restoreAllMocks()
    store.close()
  })
  beforeEach(() => {
    for (const list of [log, responses, callbacks]) list.length = 0
  })

  it('is found by this suite in every encoding that a provider may quote', () => {
    for (const secret of allSecrets)
      for (const quote of quotesOf(secret)) expect(findCanaries([secret], quote)).toEqual([secret])
  })

  describe.each(['mail', 'workspace', 'platform'] as const)(
    'stays out of logs, responses and callbacks while %s',
    (at) => {
      it.each(behaviours)('fails %s', async (_, behaviour) => {
        await sendEverything(behaviour, at)
        expectSilence(35)
      })
    },
  )

  it('stays out of logs, responses and callbacks while everything works', async () => {
    await sendEverything()
    expectSilence(250)
  })

  it('stays out of the files of the store', () => {
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
    expectNone([...allSecrets, ...personal], files)
  })

  it('was used by this suite: it sent mail and created users and applications', () => {
    expect(effects).toBeGreaterThan(50)
  })
})
