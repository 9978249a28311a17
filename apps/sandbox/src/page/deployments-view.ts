/** Deployments: a line for each, and a form for a new one. */
import { html } from 'hono/html'
import { exampleInputs } from '../world/examples.ts'
import type { Deployment, PageContext } from './context.ts'
import { deploymentDetail, stateOf } from './deployment-detail.ts'
import type { Html, Line, Query, View } from './html.ts'
import { address, clock, empty, field, filterBar, hint, split, tabs, without } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

export function deploymentsView(context: PageContext, query: Query): View {
  const all = context.deployments()
  const rest = without(query, 'deployment', 'new', 'tab')
  const words = (query.q ?? '').toLowerCase().split(/\s+/)
  const textOf = ({ id, route, status, inputs }: Deployment) =>
    JSON.stringify([id, route, status, context.mask(inputs)]).toLowerCase()
  const isStopped = ({ status }: Deployment) => Number(status === 'stopped')
  const rows = all
    .filter((one) => words.every((word) => textOf(one).includes(word)))
    .toSorted((one, other) => isStopped(one) - isStopped(other))
  const chosen = all.find(({ id }) => id === query.deployment)
  const first = html`<a href="/deployments?new=mailer">Deploy the mailer</a>: it needs no input.`
  const clear = html`<a href="/deployments">Show every deployment</a>`
  return {
    title: 'Deployments',
    bar: html`${filterBar('q', query, 'Find an id, an integration, a status, an input')}
      <a class="button primary" href="/deployments?new=mailer">New deployment</a>`,
    body: split('Deployments', rows, query, {
      row: (one) => deploymentRow(context, one, { ...rest, tab: query.tab ?? '' }),
      isChosen: (one) => one === chosen,
      none: all.length > 0 ? empty('No match', clear) : empty('No deployment yet', first),
      detail: query.new
        ? newDeployment(context, query.new)
        : chosen && deploymentDetail(context, chosen, query),
      back: address('/deployments', rest),
    }),
  }
}

function deploymentRow(context: PageContext, one: Deployment, query: Query): Line {
  const { id, route, statusHistory } = one
  const latest = statusHistory.at(-1)
  return {
    id: `row-${id}`,
    url: address('/deployments', { ...query, deployment: id }),
    look: 'deployment-row',
    cells: {
      state: stateOf(one),
      what: id,
      summary: html`<span class="facts">${context.mask({ message: latest?.message ?? '' }).message}</span>`,
      where: route,
      took: latest && clock(latest.at),
    },
  }
}

function newDeployment(context: PageContext, wanted: string): Html {
  const deployable = context.manifests.filter(({ events }) => events.includes('DEPLOYMENT_CREATED'))
  const chosen = deployable.find(({ name }) => name === wanted) ?? deployable[0]
  if (!chosen) return html``
  const { name, description, inputs } = chosen
  const free = context.freeId(name)
  const links = deployable.map((one) => [one.name, `/deployments?new=${one.name}`, one === chosen] as const)
  const body = { route: name, event: { name: 'DEPLOYMENT_CREATED' } }
  const id = html`<input type="text" id="deployment-id" name="event.deployment.id" value="${free}" autocomplete="off" spellcheck="false">`
  return html`<section class="exchange" aria-label="New deployment"><h2>New deployment</h2>
    ${tabs('Integration', links)}
    ${hint(description)}
    ${sendForm(
      { id: `new-${free}`, action: 'event', body, button: `Deploy ${name}` },
      html`${field('deployment-id', html`Deployment ID <code>id</code>`, id)}
        ${schemaFields(inputs, 'event.deployment.inputs', exampleInputs(chosen))}`,
    )}</section>`
}
