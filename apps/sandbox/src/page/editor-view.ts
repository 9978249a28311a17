/** Writes an event: any function of any deployment as a form or as JSON, or any body with any signature. */
import type { Manifest } from '@org/core/internal'
import { html } from 'hono/html'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exampleEvent, exampleOf } from './examples.ts'
import { address, field, type Html, hint, options, type Query, tabs } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

/**
 * The form for an event.
 * @param edited the event to begin with
 * @param query otherwise `new` is a route, and the name of an event or of a function: `mailer/sendEmail`
 */
export function editor(context: PageContext, edited: TimelineEntry | undefined, query: Query): Html {
  const { manifests } = context
  const [route, wanted = ''] = (edited?.route ?? query.new ?? '').split('/')
  const manifest = manifests.find(({ name }) => name === route) ?? manifests[0]
  if (edited || !manifest) {
    const text = context.maskText(edited?.body ?? '')
    return html`<section class="exchange" aria-label="Write an event"><h2>Edit event #${edited?.number}</h2>${jsonForm(context, route ?? '', text, edited)}</section>`
  }
  const names = namesOf(manifest)
  const name = names.find((one) => one === wanted) ?? names[0] ?? ''
  const definition = manifest.functions[name]
  const asJson = query.as === 'json' || !definition
  const deployments = context
    .deployments()
    .filter((one) => one.route === manifest.name && one.status !== 'stopped')
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'))
  const none = query.deployment === 'none'
  const id = none ? undefined : (deployments.find((one) => one.id === query.deployment) ?? deployments[0])?.id
  const event = exampleEvent(context, manifest, name, id)
  const choices = manifests.map((one) => {
    const group = namesOf(one).map((title) => [`${one.name}/${title}`, title] as const)
    return html`<optgroup label="${one.name}">${options(group, `${manifest.name}/${name}`)}</optgroup>`
  })
  const places = deployments.map((one) => [one.id, `${one.id} · ${one.status}`] as const)
  const deployment = id !== undefined && { deployment: { id } }
  const functionCall = { name }
  const body = { route: manifest.name, event: { name: 'FUNCTION_CALL', functionCall, ...deployment } }
  const values = exampleOf(context, manifest.name, name, id)
  const { as: _as, ...rest } = query
  const url = (as: string) => address('/timeline', { ...rest, as })
  return html`<section class="exchange" aria-label="Write an event">
    <h2>New event</h2>
    <div class="field-row" id="chooser">
      ${field('choose-event', 'Event or function', html`<select id="choose-event" data-parameter="new">${choices}</select>`)}
      ${field('choose-deployment', 'Deployment', html`<select id="choose-deployment" data-parameter="deployment">${options([...places, ['none', 'none: the host’s shared credentials']], id ?? 'none')}</select>`)}
    </div>
    ${
      definition &&
      html`${hint(`${definition.description} ${definition.effectful ? 'It has an effect, once for each delivery id.' : 'It only reads.'}`)}
      ${tabs('Form or JSON', [
        ['Form', url(''), !asJson],
        ['JSON', url('json'), asJson],
      ])}`
    }
    ${
      asJson
        ? jsonForm(context, manifest.name, JSON.stringify(event, null, 2))
        : sendForm(
            { id: `form-${manifest.name}-${name}-${id}`, action: 'event', body, button: `Send ${name}` },
            schemaFields(definition.arguments, 'event.functionCall.arguments', values),
          )
    }</section>`
}

/** The functions of an integration, and its events. */
function namesOf({ functions, events }: Manifest): string[] {
  return [...Object.keys(functions), ...events.filter((event) => event !== 'FUNCTION_CALL')]
}

const signatures = ['right', 'wrong', 'missing'].map((one) => [one, one] as const)

function jsonForm({ world }: PageContext, route: string, text: string, edited?: TimelineEntry): Html {
  const same = edited?.deliveryId ? [['same', `the same: ${edited.deliveryId}`] as const] : []
  const secrets =
    edited && text.includes('[redacted]') ? 'Values that read [redacted] keep their secrets.' : ''
  const signed = world.webhookSecret
    ? 'The host accepts only the right signature.'
    : 'Any signature is accepted: PLATFORM_WEBHOOK_SECRET=whsec_… npm start makes the host check it.'
  const select = (name: string, label: string, choices: Parameters<typeof options>[0]) =>
    field(`raw-${name}`, label, html`<select id="raw-${name}" name="${name}">${options(choices)}</select>`)
  const body = { route, ...(edited && { number: edited.number }) }
  const area = html`<textarea id="raw-body" name="text" rows="14" spellcheck="false" aria-describedby="raw-hint">
${text}</textarea>`
  const about = html`<p class="hint" id="raw-hint">It is sent as it is, broken JSON included. ${secrets} ${signed}</p>`
  return sendForm(
    { id: `json-${route}-${edited?.number ?? text.length}`, action: 'raw', body, button: 'Send' },
    html`${field('raw-body', 'Body', area, about)}
    <div class="field-row">${select('id', 'Delivery id', [['new', 'a new one'], ...same, ['none', 'none']])}
      ${select('signature', 'Signature', signatures)}</div>`,
  )
}
