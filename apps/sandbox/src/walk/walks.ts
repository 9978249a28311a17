/** The walk of each route: the life of a deployment, drawn from the manifest, and what providers do to it. */
import type { PlatformEvent } from '@org/core'
import type { Manifest } from '@org/core/internal'
import { exampleInputs, exampleOf } from '../world/examples.ts'
import { TENANT_TOKEN, type World } from '../world/world.ts'

/** The events that a route gets, one after another. */
export interface Walk {
  /** The integration, for example `mailer`. */
  route: string
  title: string
  steps: readonly Step[]
}

/** One event of a walk. */
export interface Step {
  title: string
  event: PlatformEvent
  /**
   * The id of the delivery; the same id in two steps makes a redelivery.
   * @default a new one
   */
  id?: string
  /** Prepares the world for the step. */
  prepare?: () => void
  expect: Expectation
}

/**
 * The expected effects; absent fields are not checked. An expected object may have fewer fields than the found one,
 * and an expression matches a text.
 */
export interface Expectation {
  /** Sums up the effects for the reader. */
  says: string
  /** @default 200 */
  status?: number
  replayed?: true
  /** The body of the response. */
  body?: unknown
  /** The calls to the provider, for example `POST /email 200`. */
  calls?: readonly string[]
}

/** The walk of each route. A real provider gets none, because a walk changes something there. */
export function walksOf(world: World): Walk[] {
  return world.manifests
    .filter(({ name }) => !world.realRoutes.includes(name))
    .map((manifest) => ({ route: manifest.name, title: manifest.title, steps: lifeOf(world, manifest) }))
}

const idOf = (route: string) => `dep_${route.replaceAll('-', '_')}`

function lifeOf(world: World, manifest: Manifest): Step[] {
  const { name, events, functions, downloads, metrics } = manifest
  const sample = world.samples.find(({ definition }) => definition.name === name)
  const id = idOf(name)
  const deployment = { id }
  const creation = { id, inputs: sample?.inputs ?? exampleInputs(manifest) }
  const calls = Object.entries(functions).map(([called, { description, arguments: schema }]): Step => {
    const functionCall = { name: called, arguments: exampleOf(schema) }
    return {
      title: description,
      event: { name: 'FUNCTION_CALL', deployment, functionCall },
      expect: { says: 'a result', body: { result: {} } },
    }
  })
  const files = downloads.map((file): Step => {
    const download = { id: `dl_${file}`, file }
    return {
      title: `The platform asks for ${file}`,
      event: { name: 'DOWNLOAD_STARTED', deployment, download },
      expect: { says: 'a file', body: { files: [{ path: file }] }, calls: [] },
    }
  })
  const reported = Object.keys(metrics).map((metric) => ({ name: metric }))
  const challenge = `c_${name}`
  const challenged: Step = {
    title: 'The platform checks that the route responds',
    event: { name: 'WEBHOOK_CHALLENGE', challenge },
    expect: { says: 'the challenge comes back', body: { challenge }, calls: [] },
  }
  if (!events.includes('DEPLOYMENT_CREATED')) {
    return [
      challenged,
      { title: 'A health check', event: { name: 'HEALTH_CHECK' }, expect: healthy },
      {
        title: 'It has nothing to do for a deployment',
        event: { name: 'DEPLOYMENT_CREATED', deployment: creation },
        expect: { says: 'ignored', body: { status: 'ignored', reason: /DEPLOYMENT_CREATED/ }, calls: [] },
      },
    ]
  }
  return [
    challenged,
    {
      title: 'A deployment is created',
      event: { name: 'DEPLOYMENT_CREATED', deployment: creation },
      expect: { says: 'running', body: { status: 'running' } },
    },
    { title: 'A health check', event: { name: 'HEALTH_CHECK', deployment }, expect: healthy },
    ...calls,
    ...files,
    {
      title: 'The platform collects the metrics',
      event: { name: 'METRIC_UPDATE', deployment },
      expect: { says: `${reported.length} metrics`, body: { metrics: reported } },
    },
    ...(name === 'mailer' ? troubles(world) : []),
    {
      title: 'The deployment ends',
      event: { name: 'DEPLOYMENT_DELETED', deployment },
      expect: { says: 'stopped', body: { status: 'stopped' } },
    },
    {
      title: 'An old event arrives late, out of order',
      event: { name: 'DEPLOYMENT_CREATED', deployment: creation },
      expect: { says: 'ignored', body: { status: 'ignored', reason: /deleted/ }, calls: [] },
    },
  ]
}

const healthy: Expectation = { says: 'healthy', body: { status: 'healthy' } }
/** The provider has deactivated these recipients. */
const INACTIVE = ['gone@example.com', 'left@example.com', 'moved@example.com']
/** Needs three calls to the provider. */
const COPIES = 1_203

/** What a platform and a mail provider do on bad days. */
function troubles({ mail: { emulator } }: World): Step[] {
  const deployment = { id: idOf('mailer') }
  const call = (name: string, args: object): PlatformEvent => ({
    name: 'FUNCTION_CALL',
    deployment,
    functionCall: { name, arguments: { ...args } },
  })
  const order = call('sendEmail', { to: 'ada@example.com', subject: 'Your order', textBody: 'On its way.' })
  const messages = Array.from({ length: COPIES }, (_, index) => {
    const to = INACTIVE[index] ?? `reader-${index}@example.com`
    return { to, subject: 'News', textBody: `Copy no. ${index + 1}.` }
  })
  const created = (apiToken: string): PlatformEvent => ({
    name: 'DEPLOYMENT_CREATED',
    deployment: {
      id: 'dep_press',
      inputs: { serverType: 'dedicated', apiToken, fromEmail: 'a@example.com' },
    },
  })
  const pause = { 'retry-after': '0' }
  return [
    {
      title: 'A mail, while the provider gets too many requests',
      event: order,
      id: 'evt_order',
      prepare: () => emulator?.faults.add({ path: '/email', status: 429, headers: pause }),
      expect: { says: 'sent with the second attempt', calls: ['POST /email 429', 'POST /email 200'] },
    },
    {
      title: 'The same delivery again, as platforms do',
      event: order,
      id: 'evt_order',
      expect: { says: 'the recorded response', replayed: true, calls: [] },
    },
    {
      title: 'A newsletter, one mail for each reader',
      event: call('sendEmails', { messages }),
      prepare: () => INACTIVE.forEach((address) => void emulator?.inactive.add(address)),
      expect: {
        says: 'all but three sent, and each failure with a reason',
        body: { result: { sent: COPIES - INACTIVE.length, failed: INACTIVE.length, unknown: 0 } },
        calls: Array<string>(3).fill('POST /email/batch 200'),
      },
    },
    {
      title: 'A deployment brings a wrong token',
      event: created('a-token-with-a-typo'),
      expect: { says: 'refused, with what to do', status: 422, body: { code: 'credentials_rejected' } },
    },
    {
      title: 'It corrects the token, by reference',
      event: created(`{{env.${TENANT_TOKEN}}}`),
      expect: { says: 'running', body: { status: 'running' } },
    },
    {
      title: 'The provider is down',
      event: { name: 'HEALTH_CHECK', deployment },
      prepare: () => emulator?.faults.add({ path: '/server', status: 503, headers: pause, times: 3 }),
      expect: {
        says: 'unhealthy, which is a result and not an error',
        body: { status: 'unhealthy' },
        calls: Array<string>(3).fill('GET /server 503'),
      },
    },
    {
      title: 'The provider is back',
      event: { name: 'HEALTH_CHECK', deployment },
      expect: healthy,
    },
  ]
}
