import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventName } from '@org/core'
import { sqliteStore } from '@org/core/stores/sqlite'
import { deliver, type Fault } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogger } from '../src/runtimes/logger.ts'
import { findCanaries, quoteAll } from './canary.ts'
import { createWorld, type Sent } from './hosted.ts'

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
const password = 'canary-password "\\é'
const environment = {
  TENANT_MAIL_TOKEN: secrets.tenantMailToken,
  TENANT_SECRET_KEY: secrets.tenantSecretKey,
  TENANT_ACCESS_TOKEN: secrets.tenantAccessToken,
  DATABASE_URL: 'postgres://canary-user:canary-of-the-database@db.test/',
  AWS_SECRET_ACCESS_KEY: canary('cloud'),
}
const allSecrets = [...new Set([...Object.values(secrets), ...Object.values(environment), password])]
/** Personal data: a response may contain it, a log or the store must not. */
const personal = [
  'ada.canary@example.com',
  'bob.canary@example.com',
  'CanarySurname',
  'canary subject',
  'canary words',
  '+15555550123',
]

const message = {
  to: 'Ada CanarySurname <ada.canary@example.com>',
  cc: 'bob.canary@example.com',
  subject: 'canary subject',
  textBody: 'canary words',
}
const person = {
  emailAddress: 'ada.canary@example.com',
  lastName: 'CanarySurname',
  phoneNumber: '+15555550123',
  password,
}
const calls: Record<string, { name: string; arguments: object }[]> = {
  mailer: [
    { name: 'sendEmail', arguments: message },
    { name: 'sendEmails', arguments: { messages: [message, { ...message, to: 'not an address' }] } },
    { name: 'getDeliveryStats', arguments: {} },
  ],
  idp: [
    { name: 'createUser', arguments: person },
    { name: 'listUsers', arguments: { query: 'ada.canary@example.com' } },
    {
      name: 'updateUser',
      arguments: { userId: 'user_1', ...person, emailAddress: undefined, phoneNumber: undefined },
    },
    { name: 'ada.canary@example.com', arguments: {} },
    { name: 'createUser', arguments: { 'ada.canary@example.com': 1 } },
  ],
}
const inputs: Record<string, Record<string, unknown>> = {
  auth: {},
  mailer: { serverType: 'dedicated', apiToken: '{{env.TENANT_MAIL_TOKEN}}', fromEmail: 'shop@example.com' },
  idp: { serverType: 'dedicated', secretKey: '{{env.TENANT_SECRET_KEY}}' },
  'idp-server': { applicationName: 'Shop', platformApiKey: '{{env.TENANT_ACCESS_TOKEN}}' },
}

/** A fault of one server in every request; `quotes` is the status of a response that repeats the whole request. */
type Behaviour = { quotes: number } | { fault: Fault }

const always = { times: Number.POSITIVE_INFINITY }
const behaviours: readonly (readonly [string, Behaviour])[] = [
  ...[200, 400, 401, 404, 422, 429, 500, 503].map((quotes): [string, Behaviour] => [
    `with the status ${quotes} and quotes the request`,
    { quotes },
  ]),
  ['by a reset before the request arrives', { fault: { cut: 'before', ...always } }],
  ['by a reset after the effect', { fault: { cut: 'after', ...always } }],
  ['by a reset in the response', { fault: { cut: 'during', ...always } }],
  ['with half of the response', { fault: { truncate: true, ...always } }],
  ['with an HTML page', { fault: { html: true, ...always } }],
  ['with an empty response', { fault: { empty: true, ...always } }],
  ['by silence', { fault: { hang: true, ...always } }],
]

/** A response that repeats the whole request in the format of each provider's errors. */
function quoteBack({ url, headers, text }: Sent, status: number): Response {
  const words = [url, ...headers.values(), text]
  const message = `${quoteAll(words)} ${words.join(' ')}`
  const errors = [{ code: 'x', message, long_message: message }]
  const refusal = { ErrorCode: status === 200 ? 300 : 10, Message: message, errors, detail: message }
  const many =
    url.endsWith('/email/batch') && status === 200 ? JSON.parse(text).map(() => refusal) : undefined
  return Response.json(many ?? refusal, { status })
}

const hosts = { mail: 'mail.test', workspace: 'idp.test', platform: 'platform.test' }
const folder = mkdtempSync(join(tmpdir(), 'canary-'))
const store = sqliteStore({ file: join(folder, 'deliveries.db') })
const log: string[] = []
const answers: string[] = []
const told: string[] = []
let effects = 0

/** Sends every event on every route, with and without a deployment, while one of the servers has a fault. */
async function sendEverything(behaviour: Behaviour | undefined, at: keyof typeof hosts): Promise<void> {
  const world = createWorld(secrets)
  const variables = { PLATFORM_WEBHOOK_SECRET: secrets.webhookSecret }
  const silent = behaviour && 'fault' in behaviour && 'hang' in behaviour.fault
  const logger = createLogger({ logLevel: 'debug' }, { write: (line) => log.push(line) })
  const host = world.start({
    variables,
    requestTimeoutMs: silent ? 200 : undefined,
    environment,
    store,
    logger,
  })
  world.mail.inactive.add('ada.canary@example.com')
  if (behaviour && 'quotes' in behaviour)
    world.overrides.set(hosts[at], (request) => quoteBack(request, behaviour.quotes))
  else if (behaviour) world[at].faults.add(behaviour.fault)
  const run = crypto.randomUUID()
  const send = async (route: string, event: object, id: string) => {
    const { body } = await deliver(host.fetch, event, {
      id,
      secret: secrets.webhookSecret,
      url: `http://host.test/${route}/webhook`,
    })
    answers.push(JSON.stringify(withoutPublished(body)))
  }
  const onRoute = async (route: string) => {
    const deployment = { id: `dep-${route}-${run}`, inputs: { ...inputs[route] } }
    if (route === 'idp') deployment.inputs.publishableKey = world.own.publishableKey
    world.platform.addDeployment(deployment)
    const carried = {
      id: `carried-${run}`,
      inputs: deployment.inputs,
      outputs: { apiToken: secrets.tenantMailToken, secretKey: secrets.tenantSecretKey },
    }
    // The host reads missing inputs from the platform; without a deployment, it uses the shared credentials.
    const known = { deployment: { id: deployment.id } }
    const everyone = [{ deployment }, known, { deployment: carried }, {}]
    const targets = behaviour === undefined ? everyone : at === 'platform' ? [known] : [{ deployment }, {}]
    const sendAll = (...names: EventName[]) => {
      const download = { id: 'dl_1', file: '.env.local' }
      const events = names.flatMap((name) =>
        targets.flatMap((target) =>
          (name === 'FUNCTION_CALL' ? (calls[route] ?? calls.idp ?? []) : [undefined]).map(
            (functionCall) => ({
              name,
              ...target,
              functionCall,
              download,
            }),
          ),
        ),
      )
      return Promise.all(
        events.map(async (event) => {
          const id = `${route}-${crypto.randomUUID()}`
          await send(route, event, id)
          if (behaviour === undefined) await send(route, event, id)
        }),
      )
    }
    await sendAll('DEPLOYMENT_CREATED')
    await sendAll('WEBHOOK_CHALLENGE', 'HEALTH_CHECK', 'METRIC_UPDATE', 'FUNCTION_CALL', 'DOWNLOAD_STARTED')
    await sendAll('DEPLOYMENT_DELETED')
  }
  await Promise.all(['auth', 'mailer', 'idp', 'idp-server'].map(onRoute))
  for (const { path, body, idempotencyKey } of world.platform.calls) {
    if (!path.endsWith('/outputs')) told.push(JSON.stringify([path, idempotencyKey, withoutPublished(body)]))
  }
  effects += world.mail.messages.length + world.backend.users.size + world.workspace.applications.size
}

/** A response or callback without the outputs and files that it publishes. */
function withoutPublished(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  if ('status' in body && body.status === 'running' && 'outputs' in body)
    return { ...body, outputs: undefined }
  return 'files' in body ? { ...body, files: undefined } : body
}

const storeFiles = () =>
  readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString('latin1'))
function expectNone(canaries: readonly string[], texts: readonly string[]): void {
  if (findCanaries(canaries, texts.join('\n')).length === 0) return
  for (const text of texts) if (findCanaries(canaries, text).length > 0) expect.fail(text.slice(0, 2_000))
}

function expectSilence(events: number): void {
  expect(answers.length).toBeGreaterThan(events)
  expect(log.length).toBeGreaterThan(events)
  expectNone(allSecrets, [...log, ...answers, ...told])
  expectNone(personal, log)
}

describe('a secret', () => {
  beforeAll(() => {
    // The pause between two tries is random, up to a limit: this makes it none.
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterAll(() => {
    vi.restoreAllMocks()
    store.close()
  })
  beforeEach(() => {
    for (const list of [log, answers, told]) list.length = 0
  })

  it('is found by this suite in every encoding that a provider may quote', () => {
    for (const secret of allSecrets) {
      for (const text of quoteAll([secret])
        .split(' ')
        .filter((text) => text !== 'Basic' && text !== 'Bearer')) {
        const whole = secret.includes(' ') ? quoteAll([secret]) : text
        expect(findCanaries([secret], whole)).toEqual([secret])
      }
    }
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
    await sendEverything(undefined, 'mail')
    expectSilence(250)
  })

  it('stays out of the files of the store', () => {
    expectNone([...allSecrets, ...personal], storeFiles())
  })

  it('was used by this suite: it sent mail and created users and applications', () => {
    expect(effects).toBeGreaterThan(50)
  })
})
