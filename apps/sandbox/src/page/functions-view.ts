/**
 * Functions: a form for each, from its JSON Schema, and beside it what came of the call.
 *
 * @module
 */
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { exampleOf } from './examples.ts'
import { empty, type Html } from './html.ts'
import type { View } from './layout.ts'
import { schemaFields } from './schema-form.ts'

/** The view. */
export function functionsView(context: PageContext, query: Readonly<Record<string, string>>): View {
  const { world, manifests } = context
  const callable = manifests.filter(({ functions }) => Object.keys(functions).length > 0)
  const manifest = callable.find(({ name }) => name === query.route) ?? callable.at(-1)
  const names = Object.keys(manifest?.functions ?? {})
  const name = names.find((known) => known === query.function) ?? names[0] ?? ''
  const definition = manifest?.functions[name]
  const deployments = [...world.platform.deployments.values()]
    .filter(({ id, status }) => world.deploymentRoutes.get(id) === manifest?.name && status !== 'stopped')
    .map(({ id }) => id)
    .reverse()
  const deployment = deployments.find((id) => id === query.deployment) ?? deployments[0] ?? ''
  const link = (route: string, called?: string) =>
    `/functions?${new URLSearchParams({ route, ...(called ? { function: called, deployment } : {}) })}`
  if (!manifest || !definition)
    return { title: 'Functions', body: empty('There are no functions', 'No integration has any.') }
  return {
    title: 'Functions',
    lead: 'What other services call through FUNCTION_CALL.',
    body: html`<div class="columns functions">
      <nav class="picker" aria-label="Functions">
        <div class="tabs">${callable.map((one) => html`<a href="${link(one.name)}" ${one === manifest ? html`aria-current="true"` : ''}>${one.name}</a>`)}</div>
        <ul>${names.map((one) => html`<li><a href="${link(manifest.name, one)}" ${one === name ? html`aria-current="page"` : ''}>${one}</a></li>`)}</ul>
      </nav>
      <section class="card" aria-label="Call">
        <h2><code>${name}</code></h2>
        <p class="hint">${definition.description} ${definition.effect ? 'It changes something: it happens once for each delivery id.' : 'It only reads.'}</p>
        <form data-send="call" data-target="#call-result" data-faults="functionCall.arguments" novalidate>
          <input type="hidden" data-extra="route" value="${manifest.name}"><input type="hidden" data-extra="function" value="${name}">
          ${deploymentField(deployments, deployment, manifest.name)}
          <div class="fields">${schemaFields(definition.arguments, { prefix: 'argument', values: exampleOf(context, manifest.name, name, deployment) })}</div>
          <p class="fault form-fault" role="alert" hidden></p>
          <button class="button primary">Call ${name}</button>
        </form>
      </section>
      <section class="card" aria-label="Result"><h2>Result</h2>
        <div id="call-result" class="result" aria-live="polite">${empty('Nothing was called yet', 'The answer shows up here, with the calls to the provider that it took.')}</div></section>
    </div>`,
  }
}

function deploymentField(deployments: readonly string[], chosen: string, route: string): Html {
  return html`<div class="field"><label for="call-deployment">Deployment</label>
    <select id="call-deployment" data-extra="deployment">
      ${deployments.map((id) => html`<option ${id === chosen ? html`selected` : ''}>${id}</option>`)}
      <option value="" ${chosen === '' ? html`selected` : ''}>none: the host’s shared credentials</option>
    </select>${
      deployments.length === 0 && route === 'idp-server'
        ? html`<p class="hint">It needs a deployment: <a href="/deployments?new=${route}">create one</a>.</p>`
        : ''
    }</div>`
}
