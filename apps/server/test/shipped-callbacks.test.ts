import { createPlatformEmulator, deliver, type Fault, type PlatformCall, serve } from '@org/core/testing'
import { createBackendApi } from '@org/idp/testing'
import { createMailProvider } from '@org/mailer/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Shipped, startShipped } from './shipped.ts'

const secretKey = `sk_test_${'s'.repeat(42)}`
const platform = createPlatformEmulator()
const mail = createMailProvider({ apiTokens: ['mail-token'] })
const backend = createBackendApi({ instances: [{ secretKey, frontendHost: 'shared.clerk.accounts.dev' }] })
let host: Shipped
let close: () => Promise<unknown>

beforeAll(async () => {
  const servers = await Promise.all([platform, mail, backend].map((each) => serve(each.fetch)))
  const [platformUrl, mailUrl, backendUrl] = servers.map(({ url }) => url)
  host = startShipped({
    environment: {
      PLATFORM_API_URL: platformUrl,
      MAILER_API_BASE: mailUrl,
      MAILER_SHARED_API_TOKEN: 'mail-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_API_BASE: `${backendUrl}/v1`,
      IDP_SHARED_SECRET_KEY: secretKey,
      IDP_SHARED_PUBLISHABLE_KEY: [...backend.instances.values()][0]?.publishableKey,
    },
  })
  await host.url
  close = () => Promise.all(servers.map((server) => server.close()))
})
afterAll(async () => {
  host.kill('SIGKILL')
  await host.exit
  await close()
})

const failures: Record<string, Fault> = {
  'the status 408': { status: 408 },
  'the status 429': { status: 429 },
  'the status 429 with Retry-After': { status: 429, headers: { 'retry-after': '1' } },
  'the status 500': { status: 500 },
  'the status 503': { status: 503 },
  'a connection reset': { cut: 'before' },
  silence: { hang: true },
}

type Ending = ReturnType<typeof platform.addDeployment>

interface Callback {
  name: string
  method: string
  path: string
  /** Calls of the same kind that pass before. */
  skip?: number
  route: string
  event: (id: string) => object
  /** Holds once the event is answered as if nothing had failed. */
  expectEnding: (deployment: Ending) => void
}

const created = {
  route: 'mailer',
  event: (id: string) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: {} } }),
  expectEnding({ statusHistory, outputs, sensitive, logs }: Ending) {
    expect(statusHistory.map(({ status }) => status)).toEqual(['deploying', 'running'])
    expect(outputs).toMatchObject({ apiToken: 'mail-token' })
    expect(sensitive).toEqual(['apiToken'])
    expect(logs.length).toBeGreaterThan(0)
  },
}

const callbacks: Callback[] = [
  { name: 'the status “deploying”', method: 'PUT', path: '/status', ...created },
  { name: 'the status “running”', method: 'PUT', path: '/status', skip: 1, ...created },
  { name: 'the logs', method: 'POST', path: '/logs', ...created },
  { name: 'the outputs', method: 'PUT', path: '/outputs', ...created },
  {
    name: 'reading the deployment',
    method: 'GET',
    path: '',
    route: 'mailer',
    event: (id) => ({
      name: 'FUNCTION_CALL',
      deployment: { id },
      functionCall: { name: 'getDeliveryStats', arguments: {} },
    }),
    expectEnding: () => {},
  },
  {
    name: 'the metrics',
    method: 'POST',
    path: '/metrics',
    route: 'mailer',
    event: (id) => ({ name: 'METRIC_UPDATE', deployment: { id, inputs: {} } }),
    expectEnding: ({ metrics }) => expect(metrics.map(({ name }) => name)).toContain('emails_sent'),
  },
  {
    name: 'the files of a download',
    method: 'PUT',
    path: '/downloads/dl_1',
    route: 'idp',
    event: (id) => ({ name: 'DOWNLOAD_STARTED', deployment: { id, inputs: {} }, download: { id: 'dl_1' } }),
    expectEnding({ downloads }) {
      expect(downloads.get('dl_1')).toMatchObject([
        { path: '.env.local', content: expect.stringContaining(secretKey) },
      ])
    },
  },
]

const cases = callbacks.flatMap((callback, at) =>
  Object.entries(failures).map(([failure, fault], kind) => ({
    ...callback,
    failure,
    fault,
    id: `dep_${at}_${kind}`,
  })),
)

const withoutHeaders = ({ method, path, idempotencyKey, body }: PlatformCall) => ({
  method,
  path,
  idempotencyKey,
  body,
})

describe.concurrent('the bundled host repeats a callback', () => {
  it.each(cases)(
    '$name after $failure',
    async ({ method, path, skip = 0, fault, id, ...callback }) => {
      const deployment = platform.addDeployment({ id })
      const target = `/deployments/${id}${path}`
      platform.faults.add({ ...fault, method, path: target, skip })

      const url = `${await host.url}/${callback.route}/webhook`
      const { status, body } = await deliver(fetch, callback.event(id), { id: `evt_${id}`, url })
      expect({ status, body }).toMatchObject({ status: 200 })

      callback.expectEnding(deployment)
      const [failed, repeated, ...rest] = platform.calls
        .filter((call) => call.path === target && call.method === method)
        .slice(skip)
        .map(withoutHeaders)
      expect(repeated).toEqual(failed)
      // The logs and the first status are followed by nothing of their kind but the second status.
      expect(rest).toHaveLength(path === '/status' && skip === 0 ? 1 : 0)
    },
    20_000,
  )
})
