/** Deployments: a line for each, and a form for a new one. */
import { html } from 'hono/html'
import { at, listOf } from '../world/json.ts'
import type { PageContext } from './context.ts'
import { type Deployment, deploymentDetail, stateOf } from './deployment-detail.ts'
import type { Html, Query, View } from './html.ts'
import { address, clock, empty, field, filterBar, hint, split, tabs } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

export function deploymentsView(context: PageContext, query: Query): View {
  const { q = '', deployment: chosenId, new: fresh, tab, ...rest } = query
  const all = context.deployments()
  const words = q.toLowerCase().split(/\s+/)
  const textOf = ({ id, route, status, inputs }: Deployment) =>
    JSON.stringify([id, route, status, context.mask(inputs)]).toLowerCase()
  const isStopped = ({ status }: Deployment) => Number(status === 'stopped')
  const rows = all
    .filter((one) => words.every((word) => textOf(one).includes(word)))
    .toSorted((one, other) => isStopped(one) - isStopped(other))
  const chosen = all.find(({ id }) => id === chosenId)
  const urlOf = (more: Query) => address('/deployments', { ...rest, q, ...more })
  const none =
    all.length > 0
      ? empty('No match', html`<a href="/deployments">Show every deployment</a>`)
      : empty(
          'No deployment yet',
          html`<a href="/deployments?new=mailer">Deploy the mailer</a>: it needs no input.`,
        )
  return {
    title: 'Deployments',
    tall: true,
    bar: html`${filterBar('q', q, 'Find an id, an integration, a status, an input')}
      <a class="button primary" href="/deployments?new=mailer">New deployment</a>`,
    body: split('Deployments', rows, query, {
      row: (one) =>
        deploymentRow(context, one, urlOf({ deployment: one.id, tab: tab ?? '' }), one === chosen),
      none,
      anchorOf: ({ id }) => id,
      detail:
        fresh === undefined
          ? chosen && deploymentDetail(context, chosen, query)
          : newDeployment(context, fresh),
      back: urlOf({}),
    }),
  }
}

function deploymentRow(context: PageContext, one: Deployment, url: string, isChosen: boolean): Html {
  const { id, route, statusHistory } = one
  const latest = statusHistory.at(-1)
  return html`<li class="entry" id="row-${id}"><a class="line deployment-row" href="${url}" ${isChosen && html`aria-current="true"`}>
    <span class="outcome">${stateOf(one)}</span><strong class="name">${id}</strong><span class="muted">${route}</span>
    <span class="summary muted">${context.mask({ message: latest?.message ?? '' }).message}</span>${latest && html`<span class="when small">${clock(latest.at)}</span>`}</a></li>`
}

function newDeployment(context: PageContext, wanted: string): Html {
  const deployable = context.manifests.filter(({ events }) => events.includes('DEPLOYMENT_CREATED'))
  const chosen = deployable.find(({ name }) => name === wanted) ?? deployable[0]
  if (!chosen) return empty('Nothing can be deployed', 'No integration takes deployments.')
  const { name, description, inputs } = chosen
  // The values of the required fields, from the example of the manifest.
  const [example] = listOf(inputs.examples)
  const required = listOf(inputs.required).map((one) => [String(one), at(example, String(one))])
  const free = context.freeId(name)
  const links = deployable.map((one) => [one.name, `/deployments?new=${one.name}`, one === chosen] as const)
  const body = { route: name, event: { name: 'DEPLOYMENT_CREATED' } }
  const id = html`<input type="text" id="deployment-id" name="event.deployment.id" value="${free}" autocomplete="off" spellcheck="false">`
  return html`<section class="exchange" aria-label="New deployment"><h2>New deployment</h2>
    ${tabs('Integration', links)}
    ${hint(description)}
    ${sendForm(
      { id: `new-${free}`, action: 'event', body, button: `Deploy ${name}` },
      html`${field('deployment-id', html`Deployment ID <code class="api-name">id</code>`, id)}
        ${schemaFields(inputs, 'event.deployment.inputs', Object.fromEntries(required))}`,
    )}</section>`
}
