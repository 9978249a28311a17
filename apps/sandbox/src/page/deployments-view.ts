/** Deployments: a form from the manifest, and the state of each deployment. */
import type { Manifest } from '@org/core/internal'
import type { EmulatedDeployment } from '@org/core/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import {
  actionButton,
  clock,
  code,
  empty,
  type Html,
  type Query,
  status,
  type Tone,
  tabs,
  terms,
  type View,
} from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

type Deployment = ReturnType<PageContext['deployments']>[number]

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
  return {
    title: 'Deployments',
    lead: 'The status, the outputs, the inputs, the metrics, the files and the log of each deployment.',
    body: html`<div class="columns">
      <section class="card" aria-label="New deployment">
        <h2>New deployment</h2>
        ${tabs(
          'Integration',
          deployable.map(({ name }) => [name, `/deployments?new=${name}`, name === chosen?.name]),
        )}
        ${chosen ? newDeployment(context, chosen) : ''}
      </section>
      <section aria-label="Deployments" id="deployments" data-live>${deploymentList(context)}</section>
    </div>`,
  }
}

function newDeployment(context: PageContext, { name, description, inputs }: Manifest): Html {
  const values = name === 'idp-server' ? { applicationName: 'Sandbox shop' } : {}
  return html`<p class="hint">${description}</p>
    ${sendForm(
      {
        action: 'event',
        body: { route: name, event: { name: 'DEPLOYMENT_CREATED' } },
        path: 'deployment.inputs',
        target: '#deploy-result',
        button: `Deploy ${name}`,
      },
      html`<div class="field" id="new-deployment" data-live><label for="deployment-id">Deployment id</label>
        <input type="text" id="deployment-id" data-extra="event.deployment.id" value="${context.freeId(name)}" autocomplete="off" spellcheck="false"></div>
      <div class="fields">${schemaFields(inputs, { prefix: 'input', values })}</div>`,
    )}
    <div id="deploy-result" class="result" aria-live="polite"></div>`
}

function deploymentList(context: PageContext): Html {
  const all = context.deployments()
  if (all.length === 0) {
    return empty('No deployment yet', 'Deploy the mailer: it uses the shared mail server and needs no input.')
  }
  const ended = ({ status }: Deployment) => Number(status === 'stopped')
  const sorted = all.toSorted((one, other) => ended(one) - ended(other))
  return html`${sorted.map((deployment) => deploymentCard(context, deployment))}`
}

function deploymentCard(context: PageContext, deployment: Deployment): Html {
  const { id, route, status: state, statusHistory, inputs, logs } = deployment
  const message = statusHistory.at(-1)?.message
  const tone = tones[state] ?? 'idle'
  return html`<article class="card deployment" data-deployment="${id}" aria-label="Deployment ${id}">
    <header class="card-title"><h2><code>${id}</code></h2> ${status(tone, state)} <span class="muted">${route}</span></header>
    ${message ? html`<p class="notice ${tone}">${context.mask({ message }).message}</p>` : ''}
    <div class="row">${state === 'stopped' ? '' : buttons(context, deployment)}</div>
    <div class="result" id="result-${id}" data-keep aria-live="polite"></div>
    ${values('Outputs', outputs(deployment), 'The host published no outputs.')}
    ${values('Inputs', Object.entries(context.mask(inputs)).map(toTerm), 'None: the defaults apply.')}
    ${values('Metrics', latestMetrics(deployment), 'The host reported no metrics.')}
    ${generatedFiles(context, deployment)}
    ${logs.length > 0 ? logOf(context.mask(logs.slice(-MOST_LOGS)).reverse()) : ''}
  </article>`
}

function buttons({ manifests }: PageContext, { id, route }: Deployment): Html {
  const ask = (label: string, name: string, look = 'secondary', file?: string) => {
    const download = file && { id: `dl_${file}`, file }
    const body = { route, event: { name, deployment: { id }, download } }
    return actionButton(label, 'event', body, { look, target: `#result-${id}` })
  }
  const files = manifests.find(({ name }) => name === route)?.downloads ?? []
  return html`${ask('Check health', 'HEALTH_CHECK')} ${ask('Read metrics', 'METRIC_UPDATE')}
    <a class="button secondary" href="/functions?route=${route}&deployment=${id}">Call a function</a>
    ${ask('Deploy again', 'DEPLOYMENT_CREATED')} ${ask('Delete', 'DEPLOYMENT_DELETED', 'danger')}
    ${files.map((file) => ask(`Generate ${file}`, 'DOWNLOAD_STARTED', 'secondary', file))}`
}

function values(title: string, entries: readonly (readonly [unknown, unknown])[], none: string): Html {
  return html`<h3>${title}</h3>${entries.length === 0 ? html`<p class="hint">${none}</p>` : terms(entries)}`
}

function toTerm([name, value]: readonly [string, unknown]): [unknown, Html] {
  return [name, html`<code class="value">${typeof value === 'string' ? value : JSON.stringify(value)}</code>`]
}

function outputs({ id, outputs, sensitive }: Deployment): (readonly [unknown, unknown])[] {
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
function latestMetrics({ metrics }: Deployment): [unknown, Html][] {
  const latest = new Map(metrics.map((metric) => [metric.name, metric]))
  return [...latest.values()].map(({ name, value, unit = '', timestamp }) => [
    name,
    html`<strong>${value.toLocaleString('en-US')}</strong> ${unit} <span class="muted">at ${clock(timestamp)}</span>`,
  ])
}

/** The page hides the secrets of a file; a saved file is complete. */
function generatedFiles({ maskText }: PageContext, { id, downloads }: Deployment): Html {
  const all = [...downloads].flatMap(([download, files]) =>
    files.map(({ path, content }, index) => {
      const url = ['/files', encodeURIComponent(id), encodeURIComponent(download), index].join('/')
      return html`<section class="wire"><div class="wire-title"><h4>${path}</h4><a href="${url}" download="${path}">Save</a></div>
        ${code(path, maskText(content))}</section>`
    }),
  )
  return all.length === 0 ? html`` : html`<h3>Files</h3>${all.reverse()}`
}

/** The response with a complete file. */
export function savedFile(
  { world }: PageContext,
  deployment: string,
  download: string,
  index: number,
): Response | undefined {
  const file = world.platform.deployments.get(deployment)?.downloads.get(download)?.[index]
  if (!file) return undefined
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.path)}`,
  }
  return new Response(file.content, { headers })
}

function logOf(lines: EmulatedDeployment['logs']): Html {
  const line = ({ level, message, timestamp }: EmulatedDeployment['logs'][number]) =>
    html`<li>${clock(timestamp)} ${level === 'info' ? '' : status(level === 'error' ? 'bad' : 'warn', level)} ${message}</li>`
  return html`<h3>Log</h3><ul class="log">${lines.map(line)}</ul>`
}
