/** Deployments: a form from the manifest, and the state of each deployment. */
import type { Manifest } from '@org/core/internal'
import { html } from 'hono/html'
import { at, listOf } from '../world/json.ts'
import type { PageContext } from './context.ts'
import {
  actionButton,
  card,
  clock,
  code,
  empty,
  field,
  type Html,
  hint,
  lines,
  type Query,
  status,
  type Tone,
  tabs,
  terms,
  type View,
} from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

type Deployment = ReturnType<PageContext['deployments']>[number]
type Term = readonly [name: unknown, value: unknown]

const MOST_LOGS = 10
const tones: Readonly<Record<string, Tone>> = {
  deploying: 'busy',
  running: 'ok',
  unhealthy: 'warn',
  failed: 'bad',
  stopped: 'idle',
}

export function deploymentsView(context: PageContext, query: Query): View {
  const deployable = context.manifests.filter(({ events }) => events.includes('DEPLOYMENT_CREATED'))
  const chosen = deployable.find(({ name }) => name === query.new) ?? deployable.at(-1)
  const links = deployable.map((one) => [one.name, `/deployments?new=${one.name}`, one === chosen] as const)
  return {
    title: 'Deployments',
    lead: 'The status, the outputs, the inputs, the metrics, the files and the log of each deployment.',
    body: html`<div class="columns">
      ${card('New deployment', html`${tabs('Integration', links)}${chosen && newDeployment(context, chosen)}`)}
      <section aria-label="Deployments" id="deployments" data-live>${deploymentList(context)}</section>
    </div>`,
  }
}

function newDeployment(context: PageContext, { name, description, inputs }: Manifest): Html {
  // The values of the required fields, from the example of the manifest.
  const [example] = listOf(inputs.examples)
  const required = listOf(inputs.required).map((one) => [String(one), at(example, String(one))])
  const body = { route: name, event: { name: 'DEPLOYMENT_CREATED' } }
  const id = html`<input type="text" id="deployment-id" name="event.deployment.id" value="${context.freeId(name)}" autocomplete="off" spellcheck="false">`
  return html`${hint(description)}
    ${sendForm(
      { action: 'event', body, target: '#deploy-result', button: `Deploy ${name}` },
      html`<div id="new-deployment" data-live>${field('deployment-id', 'Deployment id', id)}</div>
        ${schemaFields(inputs, 'event.deployment.inputs', Object.fromEntries(required))}`,
    )}
    <div id="deploy-result" class="result" aria-live="polite"></div>`
}

function deploymentList(context: PageContext): unknown {
  const isStopped = ({ status }: Deployment) => Number(status === 'stopped')
  const all = context.deployments().toSorted((one, other) => isStopped(one) - isStopped(other))
  if (all.length > 0) return all.map((deployment) => deploymentCard(context, deployment))
  return empty('No deployment yet', 'Deploy the mailer: it uses the shared mail server and needs no input.')
}

function deploymentCard(context: PageContext, deployment: Deployment): Html {
  const { id, route, status: state, statusHistory, inputs, logs } = deployment
  const message = statusHistory.at(-1)?.message
  const tone = tones[state] ?? 'idle'
  const log = context.mask(logs.slice(-MOST_LOGS)).reverse()
  return html`<article class="card" id="deployment-${id}" data-deployment="${id}" aria-label="Deployment ${id}">
    <header class="row"><h2><code>${id}</code></h2> ${status(tone, state)} <span class="muted">${route}</span></header>
    ${message && html`<p class="notice ${tone}">${context.mask({ message }).message}</p>`}
    <div class="row">${state !== 'stopped' && buttons(deployment)}</div>
    <div class="result" id="result-${id}" data-keep aria-live="polite"></div>
    ${values('Outputs', outputs(deployment), 'The host published no outputs.')}
    ${values('Inputs', Object.entries(context.mask(inputs)).map(toTerm), 'None: the defaults apply.')}
    ${values('Metrics', latestMetrics(deployment), 'The host reported no metrics.')}
    ${files(context, deployment)}
    ${log.length > 0 && html`<h3>Log</h3>${lines(log.map(logLine), '')}`}
  </article>`
}

/** A button that sends an event of a deployment. */
function send(label: string, { id, route }: Deployment, event: object, look = 'secondary', confirm?: string) {
  const body = { route, event: { ...event, deployment: { id } } }
  return actionButton(label, 'event', body, { look, target: `#result-${id}`, ...(confirm && { confirm }) })
}

function buttons(deployment: Deployment): Html {
  const { id, route } = deployment
  const ask = (label: string, name: string) => send(label, deployment, { name })
  const question = `Delete ${id}? The host deletes what it created at the provider.`
  return html`<a class="button secondary" href="/functions?route=${route}&deployment=${id}">Call a function</a>
    ${ask('Check health', 'HEALTH_CHECK')} ${ask('Read metrics', 'METRIC_UPDATE')} ${ask('Deploy again', 'DEPLOYMENT_CREATED')}
    <span class="push">${send('Delete', deployment, { name: 'DEPLOYMENT_DELETED' }, 'danger', question)}</span>`
}

function values(title: string, entries: readonly Term[], none: string): Html {
  return html`<h3>${title}</h3>${entries.length === 0 ? hint(none) : terms(entries)}`
}

function toTerm([name, value]: Term): Term {
  return [name, html`<code class="value">${typeof value === 'string' ? value : JSON.stringify(value)}</code>`]
}

function outputs({ id, outputs, sensitive }: Deployment): Term[] {
  return Object.entries(outputs).map(([name, value]) => {
    if (!sensitive.includes(name)) return toTerm([name, value])
    const button = (label: string, target: string) =>
      actionButton(label, 'reveal', { deployment: id, output: name }, { look: 'quiet', target })
    return [
      html`${name} <span class="tag">secret</span>`,
      html`<code class="value" id="value-${id}-${name}">••••••••••••</code>
        ${button('Reveal', `#value-${id}-${name}`)} ${button('Copy', 'clipboard')}`,
    ]
  })
}

/** The last value of each metric. */
function latestMetrics({ metrics }: Deployment): Term[] {
  const latest = new Map(metrics.map((metric) => [metric.name, metric]))
  return [...latest.values()].map(({ name, value, unit = '', timestamp }) => [
    name,
    html`<strong>${value.toLocaleString('en-US')}</strong> ${unit} <span class="muted">at ${clock(timestamp)}</span>`,
  ])
}

/** A button for each file of the integration. The page hides the secrets of a file; a saved file is complete. */
function files({ manifests, maskText }: PageContext, deployment: Deployment): Html | undefined {
  const { id, route, downloads, status } = deployment
  const names = manifests.find(({ name }) => name === route)?.downloads ?? []
  if (names.length === 0) return undefined
  const generate = (file: string) =>
    send(`Generate ${file}`, deployment, { name: 'DOWNLOAD_STARTED', download: { id: `dl_${file}`, file } })
  const all = [...downloads].flatMap(([download, generated]) =>
    generated.map(({ path, content }, index) => {
      const url = ['/files', encodeURIComponent(id), encodeURIComponent(download), index].join('/')
      return html`<section class="wire"><div class="row"><h4>${path}</h4><a href="${url}" download="${path}">Save</a></div>
        ${code(path, maskText(content))}</section>`
    }),
  )
  return html`<h3>Files</h3>${status !== 'stopped' && html`<div class="row">${names.map(generate)}</div>`}${all.reverse()}`
}

function logLine({ level, message, timestamp }: Deployment['logs'][number]): Html {
  const state = level !== 'info' && status(level === 'error' ? 'bad' : 'warn', level)
  return html`${clock(timestamp)} ${state} ${message}`
}
