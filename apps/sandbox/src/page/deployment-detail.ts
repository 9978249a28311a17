/** One deployment: its state, functions, people, files and log. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { Deployment, PageContext } from './context.ts'
import type { Html, Query, Tone } from './html.ts'
import { actionButton, address, clock, code, hint, panes, status, terms } from './html.ts'

type Term = readonly [name: unknown, value: unknown]

const MOST_ROWS = 200
const tones: Readonly<Record<string, Tone>> = {
  deploying: 'busy',
  running: 'ok',
  unhealthy: 'warn',
  failed: 'bad',
  stopped: 'idle',
}
/** The status of a deployment. */
export const stateOf = ({ status: state }: Deployment) => status(tones[state] ?? 'idle', state)

/** A deployment, with everything that belongs to it. */
export function deploymentDetail(context: PageContext, deployment: Deployment, query: Query): Html {
  const { id, route, statusHistory, logs, downloads } = deployment
  const manifest = context.manifests.find(({ name }) => name === route)
  const instance = instanceOf(context, deployment)
  const state = statusHistory.at(-1)
  const functions = Object.entries(manifest?.functions ?? {})
  const files = manifest?.downloads ?? []
  const log = () =>
    html`<ul class="log">${context.mask(logs).reverse().slice(0, MOST_ROWS).map(logLine)}</ul>`
  return html`<article class="exchange" data-deployment="${id}" aria-label="Deployment ${id}">
    <header class="row"><h2>${id}</h2> ${stateOf(deployment)} <span class="muted">${route}</span></header>
    ${state?.message && html`<p class="notice ${tones[state.status] ?? 'idle'}">${context.mask({ message: state.message }).message}</p>`}
    ${deployment.status !== 'stopped' && buttons(deployment)}
    ${panes('Parts of the deployment', '/deployments', query, {
      overview: ['Overview', () => overview(context, deployment)],
      functions: functions.length > 0 && [
        `Functions ${functions.length}`,
        () => functions.map((one) => functionLine(deployment, one)),
      ],
      people: instance && [`People ${instance.users.size}`, () => people(deployment, instance)],
      files: files.length > 0 && [`Files ${downloads.size}`, () => filesOf(context, deployment, files)],
      log: [`Log ${logs.length}`, log],
    })}</article>`
}

/** A button that sends an event of a deployment. */
function send(label: string, { id, route }: Deployment, event: object, options = {}): Html {
  return actionButton(label, 'event', { route, event: { ...event, deployment: { id } } }, options)
}

function buttons(deployment: Deployment): Html {
  const ask = (label: string, name: string) => send(label, deployment, { name })
  const confirm = `Delete ${deployment.id}? The host deletes what it created at the provider.`
  return html`<div class="row">${ask('Check health', 'HEALTH_CHECK')} ${ask('Read metrics', 'METRIC_UPDATE')} ${ask('Deploy again', 'DEPLOYMENT_CREATED')}
    <span class="push">${send('Delete', deployment, { name: 'DEPLOYMENT_DELETED' }, { look: 'danger', confirm })}</span></div>`
}

function overview(context: PageContext, deployment: Deployment): Html {
  const values = (title: string, entries: readonly Term[], none: string) =>
    html`<h3>${title}</h3>${entries.length === 0 ? hint(none) : terms(entries)}`
  const latest = new Map(deployment.metrics.map((metric) => [metric.name, metric]))
  const metrics = [...latest.values()].map(
    ({ name, value, unit = '', timestamp }): Term => [
      name,
      html`<strong>${value.toLocaleString('en-US')}</strong> ${unit} <span class="muted">at ${clock(timestamp)}</span>`,
    ],
  )
  return html`${values('Outputs', outputs(deployment), 'The host published no outputs.')}
    ${values('Inputs', Object.entries(context.mask(deployment.inputs)).map(toTerm), 'None: the defaults apply.')}
    ${values('Metrics', metrics, 'The host reported no metrics.')}`
}

function toTerm([name, value]: Term): Term {
  return [name, html`<code class="value">${typeof value === 'string' ? value : JSON.stringify(value)}</code>`]
}

function outputs({ id, outputs, sensitive }: Deployment): Term[] {
  return Object.entries(outputs).map(([name, value]) => {
    if (!sensitive.some((path) => path.replace(/\..*/, '') === name)) return toTerm([name, value])
    const button = (label: string, target: string) =>
      actionButton(label, 'reveal', { deployment: id, output: name }, { look: 'link', target })
    return [
      html`${name} <span class="tag">secret</span>`,
      html`<code class="value" id="value-${id}-${name}">••••••••••••</code> ${button('Reveal', `#value-${id}-${name}`)} ${button('Copy', 'clipboard')}`,
    ]
  })
}

function functionLine(
  { id, route, status }: Deployment,
  [name, { description, effectful }]: [string, { description: string; effectful: boolean }],
): Html {
  const url = address('/timeline', { new: `${route}/${name}`, deployment: id })
  return html`<p class="function row"><strong>${name}</strong> <span class="muted">${description}</span>${effectful && html`<span class="tag">has an effect</span>`}
    ${status !== 'stopped' && html`<a class="push" href="${url}" aria-label="Call ${name}">Call</a>`}</p>`
}

/** The instance at the identity provider whose keys a deployment has. */
function instanceOf({ world }: PageContext, { outputs }: Deployment) {
  return world.instances().find(({ publishableKey }) => publishableKey === outputs.publishableKey)
}

function people({ id, route }: Deployment, instance: NonNullable<ReturnType<typeof instanceOf>>): Html {
  const { users, organizations } = instance
  const create = (name: string, label: string) =>
    html`<a href="${address('/timeline', { new: `${route}/${name}`, deployment: id })}">${label}</a>`
  const row = (name: string, about: unknown, { id, created_at }: { id: string; created_at: number }) =>
    html`<li class="row"><strong>${name || '–'}</strong> ${about} <code class="push">${id}</code> ${clock(created_at)}</li>`
  const userRows = [...users.values()].map((user) => {
    const addresses = user.email_addresses.map((one) => one.email_address).join(', ')
    const banned = user.banned && html`<span class="tag">banned</span>`
    return row(`${user.first_name ?? ''} ${user.last_name ?? ''}`.trim(), [addresses, banned], user)
  })
  const organizationRows = [...organizations.values()].map((one) => row(one.name, '', one))
  const list = (rows: Html[]) => html`<ul class="log">${rows.slice(-MOST_ROWS).reverse()}</ul>`
  return html`<div class="row"><h3>${plural(users.size, 'user')}</h3> ${create('createUser', 'Create a user')}</div>${list(userRows)}
    <div class="row"><h3>${plural(organizations.size, 'organization')}</h3> ${create('createOrganization', 'Create an organization')}</div>${list(organizationRows)}`
}

/** A button for each file of the integration. The page hides the secrets of a file; a saved file is complete. */
function filesOf({ maskText }: PageContext, deployment: Deployment, names: readonly string[]): Html {
  const { id, downloads, status } = deployment
  const generate = (file: string) =>
    send(`Generate ${file}`, deployment, { name: 'DOWNLOAD_STARTED', download: { id: `dl_${file}`, file } })
  const all = [...downloads].flatMap(([download, generated]) =>
    generated.map(({ path, content }, index) => {
      const url = ['/files', encodeURIComponent(id), encodeURIComponent(download), index].join('/')
      return html`<section class="wire"><div class="row"><h3>${path}</h3><a class="push" href="${url}" download="${path}">Save</a></div>
        ${code(path, maskText(content))}</section>`
    }),
  )
  return html`${status !== 'stopped' && html`<div class="row">${names.map(generate)}</div>`}${all.reverse()}`
}

function logLine({ level, message, timestamp }: Deployment['logs'][number]): Html {
  const state = level !== 'info' && status(level === 'error' ? 'bad' : 'warn', level)
  return html`<li>${clock(timestamp)} ${state} ${message}</li>`
}
