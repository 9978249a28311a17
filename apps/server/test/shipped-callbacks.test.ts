import { deliver, type EmulatedDeployment, type Fault, type PlatformCall } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { secret, secretKey } from './deployed.ts'
import { calling } from './hosted.ts'
import { ship, surround } from './surrounded.ts'

const around = await surround()
const host = ship({ environment: around.variables })

const failures: Record<string, Fault> = {
  'the status 408': { status: 408 },
  'the status 429': { status: 429 },
  'the status 429 with Retry-After': { status: 429, headers: { 'retry-after': '1' } },
  'the status 500': { status: 500 },
  'the status 503': { status: 503 },
  'a connection reset': { cut: 'before' },
  silence: { hang: true },
}

interface Callback {
  name: string
  method: string
  path: string
  /** Calls of the same kind that pass before. */
  skip?: number
  /** @default 'mailer' */
  route?: string
  event: (id: string) => object
  /** Holds once the event is answered as if nothing had failed. */
  expectEnding?: (deployment: EmulatedDeployment) => void
}

const creation = {
  event: (id: string) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: {} } }),
  expectEnding({ statusHistory, outputs, sensitive, logs }: EmulatedDeployment) {
    expect(statusHistory.map(({ status }) => status)).toEqual(['deploying', 'running'])
    expect(outputs).toMatchObject({ apiToken: 'mail-token' })
    expect(sensitive).toEqual(['apiToken'])
    expect(logs.length).toBeGreaterThan(0)
  },
}

const callbacks: Callback[] = [
  { name: 'the status “deploying”', method: 'PUT', path: '/status', ...creation },
  { name: 'the status “running”', method: 'PUT', path: '/status', skip: 1, ...creation },
  { name: 'the logs', method: 'POST', path: '/logs', ...creation },
  { name: 'the outputs', method: 'PUT', path: '/outputs', ...creation },
  {
    name: 'reading the deployment',
    method: 'GET',
    path: '',
    event: (id) => ({ ...calling('getDeliveryStats'), deployment: { id } }),
  },
  {
    name: 'the metrics',
    method: 'POST',
    path: '/metrics',
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
      const content = expect.stringContaining(secretKey)
      expect(downloads.get('dl_1')).toMatchObject([{ path: '.env.local', content }])
    },
  },
]

const cases = callbacks.flatMap((callback, at) =>
  Object.entries(failures).map(([failure, fault], kind) => {
    const id = `dep_${at}_${kind}`
    return { ...callback, failure, fault, id, target: `/deployments/${id}${callback.path}` }
  }),
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
    async ({ method, path, target, skip = 0, fault, id, route = 'mailer', event, expectEnding }) => {
      const { platform } = around
      const deployment = platform.addDeployment({ id })
      platform.faults.add({ ...fault, method, path: target, skip })

      const url = `${await host.url}/${route}/webhook`
      const { status, body } = await deliver(fetch, event(id), { id: `evt_${id}`, url, secret })
      expect({ status, body }).toMatchObject({ status: 200 })

      expectEnding?.(deployment)
      const [failed, repeated, ...rest] = platform.calls
        .filter((call) => call.path === target && call.method === method)
        .slice(skip)
        .map(withoutHeaders)
      expect(repeated).toEqual(failed)
      // Only the status “deploying” is followed by another callback of its kind.
      expect(rest).toHaveLength(path === '/status' && skip === 0 ? 1 : 0)
    },
    20_000,
  )
})
