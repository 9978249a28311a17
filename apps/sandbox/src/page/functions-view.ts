/** Functions: a form for each, from its JSON Schema, and the result of the call. */
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import { hasSucceeded } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { empty, type Html, type Query, tabs, type View } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

export function functionsView(context: PageContext, query: Query): View {
  const callable = context.manifests.filter(({ functions }) => Object.keys(functions).length > 0)
  const manifest = callable.find(({ name }) => name === query.route) ?? callable.at(-1)
  const names = Object.keys(manifest?.functions ?? {})
  const name = names.find((known) => known === query.function) ?? names[0] ?? ''
  const definition = manifest?.functions[name]
  if (!manifest || !definition)
    return { title: 'Functions', body: empty('There are no functions', 'No integration has any.') }
  const deployments = context
    .deployments()
    .filter(({ route, status }) => route === manifest.name && status !== 'stopped')
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'))
  const deployment = (deployments.find(({ id }) => id === query.deployment) ?? deployments[0])?.id ?? ''
  const values = exampleOf(context, manifest.name, name, deployment)
  return {
    title: 'Functions',
    lead: 'Other services call these functions through FUNCTION_CALL.',
    body: html`<div class="columns">
      <section class="card" aria-label="Call">
        ${tabs(
          'Integration',
          callable.map((one) => [one.name, `/functions?route=${one.name}`, one === manifest]),
        )}
        ${tabs(
          'Functions',
          names.map((one) => [
            one,
            `/functions?route=${manifest.name}&function=${one}&deployment=${deployment}`,
            one === name,
          ]),
        )}
        <h2><code>${name}</code></h2>
        <p class="hint">${definition.description} ${definition.effect ? 'It has an effect, once for each delivery id.' : 'It only reads.'}</p>
        ${sendForm(
          callForm(manifest.name, name, `Call ${name}`),
          html`${deploymentField(deployments, deployment, manifest.name)}
          <div class="fields">${schemaFields(definition.arguments, { prefix: 'argument', values })}</div>`,
        )}
      </section>
      <section class="card sticky" aria-label="Result"><h2>Result</h2>
        <div id="call-result" class="result" aria-live="polite">${empty('No call yet', 'The response shows up here, with the calls to the provider.')}</div></section>
    </div>`,
  }
}

function deploymentField(
  deployments: ReturnType<PageContext['deployments']>,
  chosen: string,
  route: string,
): Html {
  return html`<div class="field"><label for="call-deployment">Deployment</label>
    <select id="call-deployment" data-extra="event.deployment.id">
      ${deployments.map(({ id, status }) => html`<option value="${id}" ${id === chosen ? html`selected` : ''}>${id} · ${status}</option>`)}
      <option value="" ${chosen === '' ? html`selected` : ''}>none: the host’s shared credentials</option>
    </select>${
      deployments.length === 0
        ? html`<p class="hint">No deployment of it exists: <a href="/deployments?new=${route}">create one</a>.</p>`
        : ''
    }</div>`
}

/** The options of a form that calls a function. */
export function callForm(route: string, name: string, button: string): Parameters<typeof sendForm>[0] {
  const body = { route, event: { name: 'FUNCTION_CALL', functionCall: { name } } }
  return { action: 'event', body, path: 'functionCall.arguments', target: '#call-result', button }
}

/** A first mail. */
export function exampleMail({ world }: PageContext): Record<string, string> {
  return {
    to: world.mail.to,
    subject: 'Your order is on its way',
    htmlBody: '<h1>Hello Ada,</h1>\n<p>your order left the house today.</p>',
  }
}

/** An id as providers generate it, such as `user_2abc…`. */
const ID = /^([a-z]+_)\w{8,}$/

/**
 * The example of the manifest, so that one click is enough. An id in it becomes the newest one of its kind that the
 * deployment has, and an address that was used for a creation gets a number.
 */
export function exampleOf(
  { manifests, timeline, world }: PageContext,
  route: string,
  name: string,
  deployment: string,
): Record<string, unknown> {
  const schema = manifests.find((one) => one.name === route)?.functions[name]?.arguments
  const [whole] = listOf(schema?.examples)
  const fields = listOf(schema?.required).map(String)
  const examples = fields.map((field) => [field, listOf(at(schema, 'properties', field, 'examples'))[0]])
  const done = timeline
    .list()
    .filter(
      (entry) =>
        entry.source !== 'walk' && entry.route === route && entry.deployment === (deployment || undefined),
    )
    .filter(hasSucceeded)
  const texts = done.map(({ response }) => response?.text ?? '')
  const deleted = new Set(texts.flatMap((text) => text.match(/(?<="id":")\w+(?=","deleted":true)/g) ?? []))
  const ids = texts.flatMap((text) => text.match(/(?<="id":")\w+/g) ?? []).filter((id) => !deleted.has(id))
  const times = name.startsWith('create') ? done.filter(({ subject }) => subject === name).length : 0
  const adapt = (_: string, value: unknown) => {
    if (typeof value !== 'string') return value
    const [, kind] = ID.exec(value) ?? []
    if (kind) return ids.find((id) => id.startsWith(kind))
    // A real mail provider gets mail for its black hole alone.
    if (!world.mail.emulator && value.includes('@')) return world.mail.to
    return times > 0 ? value.replace('@', `-${times + 1}@`) : value
  }
  const adapted: unknown = JSON.parse(JSON.stringify(whole ?? Object.fromEntries(examples), adapt))
  return isRecord(adapted) ? adapted : {}
}
