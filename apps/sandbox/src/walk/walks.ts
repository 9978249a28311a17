/** The walk of each route: the life of a deployment, drawn from the manifest, and what providers do to it. */
import type { PlatformEvent } from '@org/core'
import type { Manifest } from '@org/core/hosting'
import { exampleInputs, exampleOf } from '../world/examples.ts'
import { TENANT_TOKEN, type World } from '../world/world.ts'

/** The events that a route gets, one after another. */
export interface Walk {
  /** The integration, for example `mailer`. */
  route: string
  title: string
  steps: readonly Step[]
}

/**
 * One event of a walk, and its expected effects. Absent effects are not checked. An expected object may have fewer
 * fields than the found one, and an expression matches a text.
 */
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
  /** @default 200 */
  status?: number
  replayed?: true
  /** The body of the response. */
  body?: object
  /** The calls to the provider, for example `POST /email 200`. */
  calls?: readonly string[]
}

/** The walk of each route. */
export function walksOf(world: World): Walk[] {
  return world.manifests.map((manifest) => {
    return { route: manifest.name, title: manifest.title, steps: lifeOf(world, manifest) }
  })
}

function lifeOf(world: World, manifest: Manifest): Step[] {
  const { name, events, functions, downloads, metrics } = manifest
  const sample = world.samples.find(({ definition }) => definition.name === name)
  const deployment = { id: `dep_${name.replaceAll('-', '_')}` }
  const inputs = sample?.inputs ?? exampleInputs(manifest)
  const challenge = `c_${name}`
  const challenged: Step = {
    title: 'The platform checks that the route responds',
    event: { name: 'WEBHOOK_CHALLENGE', challenge },
    body: { challenge },
    calls: [],
  }
  const created: PlatformEvent = { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs } }
  const health: PlatformEvent = { name: 'HEALTH_CHECK', deployment }
  const healthy = { event: health, body: { status: 'healthy' } }
  if (!events.includes('DEPLOYMENT_CREATED')) {
    const body = { status: 'ignored' }
    return [
      challenged,
      { title: 'A health check', ...healthy, event: { name: 'HEALTH_CHECK' } },
      { title: 'A deployment, for which there is nothing to do', event: created, body },
    ]
  }
  const call = (
    title: string,
    called: string,
    args: Record<string, unknown>,
    more: Partial<Step> = {},
  ): Step => ({
    title,
    event: { name: 'FUNCTION_CALL', deployment, functionCall: { name: called, arguments: args } },
    body: { result: {} },
    ...more,
  })
  const calls = Object.entries(functions).map(([called, { description, arguments: schema }]) =>
    call(description, called, exampleOf(schema)),
  )
  const files = downloads.map((file): Step => {
    const download = { id: `dl_${file}`, file }
    const event: PlatformEvent = { name: 'DOWNLOAD_STARTED', deployment, download }
    return { title: `The platform asks for ${file}`, event, body: { files: [{ path: file }] }, calls: [] }
  })
  const measured = { metrics: Object.keys(metrics).map((metric) => ({ name: metric })) }
  const late = { status: 'ignored', reason: /deleted/ }
  return [
    challenged,
    { title: 'A deployment is created', event: created, body: { status: 'running' } },
    { title: 'A health check', ...healthy },
    ...calls,
    ...files,
    { title: 'The metrics', event: { name: 'METRIC_UPDATE', deployment }, body: measured },
    ...(name === 'mailer' ? troubles(world, call) : []),
    {
      title: 'The deployment ends',
      event: { name: 'DEPLOYMENT_DELETED', deployment },
      body: { status: 'stopped' },
    },
    { title: 'An old event arrives late, out of order', event: created, body: late, calls: [] },
  ]
}

/** The provider has deactivated these recipients. */
const INACTIVE = ['gone@example.com', 'left@example.com', 'moved@example.com']
/** Needs three calls to the provider. */
const COPIES = 1_203

/** Faults of platforms, mail providers and tenants. */
function troubles(
  { mail }: World,
  call: (title: string, called: string, args: Record<string, unknown>, more: Partial<Step>) => Step,
): Step[] {
  const id = 'evt_order'
  const mailed = { to: 'ada@example.com', subject: 'Your order', textBody: 'On its way.' }
  const messages = Array.from({ length: COPIES }, (_, index) => {
    const to = INACTIVE[index] ?? `reader-${index}@example.com`
    return { to, subject: 'News', textBody: `Copy no. ${index + 1}.` }
  })
  const inputs = (apiToken: string) => ({ serverType: 'dedicated', apiToken, fromEmail: 'a@example.com' })
  const created = (apiToken: string): PlatformEvent => ({
    name: 'DEPLOYMENT_CREATED',
    deployment: { id: 'dep_press', inputs: inputs(apiToken) },
  })
  return [
    call('A mail, while the provider gets too many requests', 'sendEmail', mailed, {
      id,
      prepare: () => mail.faults.add({ path: '/email', status: 429, headers: { 'retry-after': '0' } }),
      calls: ['POST /email 429', 'POST /email 200'],
    }),
    call('The same delivery again', 'sendEmail', mailed, { id, replayed: true, calls: [] }),
    call(
      'A newsletter',
      'sendEmails',
      { messages },
      {
        prepare: () => INACTIVE.forEach((address) => void mail.inactive.add(address)),
        body: { result: { sent: COPIES - INACTIVE.length, failed: INACTIVE.length, unknown: 0 } },
        calls: Array<string>(3).fill('POST /email/batch 200'),
      },
    ),
    {
      title: 'A wrong token',
      event: created('a-token-with-a-typo'),
      status: 422,
      body: { code: 'credentials_rejected' },
    },
    {
      title: 'The token of the tenant, by reference',
      event: created(`{{env.${TENANT_TOKEN}}}`),
      body: { status: 'running' },
    },
  ]
}
