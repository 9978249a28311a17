/**
 * Deployments: creating one by a form from the manifest, and everything that is known of each.
 *
 * @module
 */
import type { Manifest } from '@org/core/internal'
import type { EmulatedDeployment } from '@org/core/testing'
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { actionButton, clock, count, empty, type Html, status, toneOf } from './html.ts'
import type { View } from './layout.ts'
import { schemaFields } from './schema-form.ts'

const LAST_LOGS = 5

/** The view. */
export function deploymentsView(context: PageContext, query: Readonly<Record<string, string>>): View {
  const deployable = context.manifests.filter(({ events }) => events.includes('DEPLOYMENT_CREATED'))
  const chosen = deployable.find(({ name }) => name === query.new) ?? deployable.at(-1)
  return {
    title: 'Deployments',
    lead: 'What the platform would show of each: status, outputs, inputs and log.',
    body: html`<div class="columns form-left">
      <section class="card" aria-label="New deployment">
        <h2>New deployment</h2>
        <nav class="tabs" aria-label="Integration">${deployable.map(
          ({ name, title }) =>
            html`<a href="/deployments?new=${name}" ${name === chosen?.name ? html`aria-current="true"` : ''} title="${title}">${name}</a>`,
        )}</nav>
        ${chosen ? newDeployment(context, chosen) : ''}
      </section>
      <section aria-label="Deployments" id="deployments" data-live>${deploymentList(context)}</section>
    </div>`,
  }
}

function newDeployment(context: PageContext, { name, description, inputs }: Manifest): Html {
  return html`<p class="hint">${description}</p>
    <form data-send="deploy" data-target="#deploy-result" data-faults="deployment.inputs" novalidate>
      <input type="hidden" data-extra="route" value="${name}">
      <div class="field"><label for="deployment-id">Deployment id</label>
        <input type="text" id="deployment-id" data-extra="deployment" value="${freeId(context, name)}" autocomplete="off" spellcheck="false"></div>
      <div class="fields">${schemaFields(inputs, { prefix: 'input', values: name === 'idp-server' ? { applicationName: 'Sandbox shop' } : {} })}</div>
      <p class="fault form-fault" role="alert" hidden></p>
      <button class="button primary">Deploy ${name}</button>
    </form>
    <div id="deploy-result" class="result" aria-live="polite"></div>`
}

/** An id that no deployment has yet. */
export function freeId({ world }: PageContext, route: string): string {
  for (let number = 1; ; number += 1) {
    const id = `dep_${route.replaceAll('-', '_')}_${number}`
    if (!world.platform.deployments.has(id)) return id
  }
}

function deploymentList(context: PageContext): Html {
  const all = [...context.world.platform.deployments.values()].reverse()
  if (all.length === 0) {
    return empty(
      'No deployment yet',
      'Deploy the mailer as it stands: it uses the shared mail server, and needs nothing filled in.',
    )
  }
  const stopped = all.filter((deployment) => deployment.status === 'stopped')
  const others = all.filter((deployment) => deployment.status !== 'stopped')
  return html`${others.map((deployment) => deploymentCard(context, deployment))}
    ${stopped.length > 0 ? html`<details class="more" id="stopped"><summary>${count(stopped.length, 'stopped deployment')}</summary>${stopped.map((deployment) => deploymentCard(context, deployment))}</details>` : ''}`
}

function deploymentCard(context: PageContext, deployment: EmulatedDeployment): Html {
  const { id, status: state, statusHistory, outputs, inputs } = deployment
  const route = context.world.deploymentRoutes.get(id) ?? ''
  const manifest = context.manifests.find(({ name }) => name === route)
  const message = statusHistory.at(-1)?.message
  const ask = (label: string, event: string, look = 'secondary') =>
    actionButton(
      label,
      'deployment-event',
      { route, deployment: id, event },
      { look, target: `#result-${id}` },
    )
  return html`<article class="card deployment" data-deployment="${id}" aria-label="Deployment ${id}">
    <header class="card-title"><h2><code>${id}</code></h2> ${status(toneOf(state), state)} <span class="muted">${route}</span></header>
    ${message ? html`<p class="notice ${toneOf(state)}">${context.mask({ message }).message}</p>` : ''}
    <div class="row">
      ${state === 'stopped' ? '' : ask('Check health', 'HEALTH_CHECK')}
      ${state === 'stopped' ? '' : ask('Read metrics', 'METRIC_UPDATE')}
      ${state === 'stopped' ? '' : html`<a class="button secondary" href="/functions?route=${route}&deployment=${id}">Call a function</a>`}
      ${state === 'stopped' ? '' : ask('Deploy again', 'DEPLOYMENT_CREATED')}
      ${state === 'stopped' ? '' : ask('Delete', 'DEPLOYMENT_DELETED', 'danger')}
      ${(state === 'stopped' ? [] : (manifest?.downloads ?? [])).map((file) =>
        actionButton(
          `Generate ${file}`,
          'deployment-event',
          { route, deployment: id, event: 'DOWNLOAD_STARTED', file },
          { target: `#result-${id}` },
        ),
      )}
    </div>
    <div class="result" id="result-${id}" data-keep aria-live="polite"></div>
    ${valueTable('Outputs', outputRows(deployment), Object.keys(outputs).length === 0 ? 'Nothing was published.' : '')}
    ${valueTable('Inputs', inputRows(context, inputs), Object.keys(inputs).length === 0 ? 'None: the defaults apply.' : '')}
    ${logOf(context, deployment)}
  </article>`
}

function valueTable(title: string, rows: readonly Html[], note: string): Html {
  return html`<h3>${title}</h3>${note ? html`<p class="hint">${note}</p>` : html`<dl class="values">${rows}</dl>`}`
}

/** The names of the outputs that are secret. */
export function maskedOutputs({ outputs, sensitive }: EmulatedDeployment): string[] {
  return sensitive.filter((name) => Object.hasOwn(outputs, name))
}

function outputRows(deployment: EmulatedDeployment): Html[] {
  const secret = maskedOutputs(deployment)
  return Object.entries(deployment.outputs).map(([name, value]) => {
    const body = { deployment: deployment.id, output: name }
    if (!secret.includes(name))
      return html`<dt>${name}</dt><dd><code class="value">${textOf(value)}</code></dd>`
    return html`<dt>${name} <span class="tag">secret</span></dt><dd><code class="value" id="value-${deployment.id}-${name}">••••••••••••</code>
      ${actionButton('Reveal', 'reveal', body, { look: 'quiet', target: `#value-${deployment.id}-${name}` })}
      ${actionButton('Copy', 'reveal', body, { look: 'quiet', target: 'clipboard' })}</dd>`
  })
}

function inputRows(context: PageContext, inputs: Readonly<Record<string, unknown>>): Html[] {
  return Object.entries(context.mask(inputs)).map(
    ([name, value]) => html`<dt>${name}</dt><dd><code class="value">${textOf(value)}</code></dd>`,
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function logOf(context: PageContext, { id, logs }: EmulatedDeployment): Html {
  if (logs.length === 0) return html``
  const line = ({ level, message, timestamp }: EmulatedDeployment['logs'][number]) =>
    html`<li>${clock(timestamp)} ${level === 'info' ? '' : status(level === 'error' ? 'bad' : 'warn', level)} ${message}</li>`
  const lines = context.mask(logs.slice(-50)).reverse()
  return html`<h3>Log</h3><ul class="log">${lines.slice(0, LAST_LOGS).map(line)}</ul>
    ${lines.length > LAST_LOGS ? html`<details class="more" id="log-${id}"><summary>${lines.length - LAST_LOGS} older lines</summary><ul class="log">${lines.slice(LAST_LOGS).map(line)}</ul></details>` : ''}`
}
