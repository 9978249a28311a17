/** Functions: a form for each, from its JSON Schema, and the result of the call. */
import { html } from 'hono/html'
import { at, isRecord, listOf } from '../world/json.ts'
import { hasSucceeded } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { card, empty, field, hint, options, type Query, tabs, type View } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

export function functionsView(context: PageContext, query: Query): View {
  const callable = context.manifests.filter(({ functions }) => Object.keys(functions).length > 0)
  const manifest = callable.find(({ name }) => name === query.route) ?? callable.at(-1)
  const names = Object.keys(manifest?.functions ?? {})
  const name = names.find((known) => known === query.function) ?? names[0] ?? ''
  const definition = manifest?.functions[name]
  if (!manifest || !definition)
    return { title: 'Functions', body: empty('There are no functions', 'No integration has any.') }
  const route = manifest.name
  const deployments = context
    .deployments()
    .filter((one) => one.route === route && one.status !== 'stopped')
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'))
  const chosen = (deployments.find(({ id }) => id === query.deployment) ?? deployments[0])?.id ?? ''
  const choices = deployments.map(({ id, status }) => [id, `${id} · ${status}`] as const)
  const url = (one: string) => `/functions?route=${route}&function=${one}&deployment=${chosen}`
  const deployment = field(
    'call-deployment',
    'Deployment',
    html`<select id="call-deployment" name="event.deployment.id">${options([...choices, ['', 'none: the host’s shared credentials']], chosen)}</select>`,
    !chosen && hint(html`No deployment of it exists: <a href="/deployments?new=${route}">create one</a>.`),
  )
  const event = { name: 'FUNCTION_CALL', functionCall: { name } }
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
          names.map((one) => [one, url(one), one === name]),
        )}
        <h2><code>${name}</code></h2>
        ${hint(`${definition.description} ${definition.effectful ? 'It has an effect, once for each delivery id.' : 'It only reads.'}`)}
        ${sendForm(
          { action: 'event', body: { route, event }, target: '#call-result', button: `Call ${name}` },
          html`${deployment} ${schemaFields(definition.arguments, 'event.functionCall.arguments', exampleOf(context, route, name, chosen))}`,
        )}
      </section>
      <div class="sticky">${card('Result', html`<div id="call-result" class="result" aria-live="polite">${empty('No call yet', 'The response shows up here, with the calls to the provider.')}</div>`)}</div>
    </div>`,
  }
}

/** A first mail. */
export function exampleMail({ world }: PageContext) {
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
    .filter((entry) => entry.source !== 'walk' && entry.route === route && hasSucceeded(entry))
    .filter((entry) => entry.deployment === (deployment || undefined))
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
