/** Writes an event: any function of any deployment as a form or as JSON, or any body with any signature. */
import type { Manifest } from '@org/core/hosting'
import { html } from 'hono/html'
import { exampleOf } from '../world/examples.ts'
import { MASK } from '../world/mask.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { address, field, type Html, hint, options, type Query, select, tabs, without } from './html.ts'
import { schemaFields, sendForm } from './schema-form.ts'

/**
 * The form for an event.
 * @param edited the event to begin with
 * @param query otherwise `new` is a route, and the name of an event or of a function: `mailer/sendEmail`
 */
export function editor(context: PageContext, edited: TimelineEntry | undefined, query: Query): Html {
  const { manifests } = context
  const [route, wanted] = (edited?.route ?? query.new ?? '').split('/')
  const manifest = manifests.find(({ name }) => name === route) ?? manifests[0]
  const draw = (title: string, form: unknown) =>
    html`<section class="exchange" aria-label="Write an event"><h2>${title}</h2>${form}</section>`
  if (edited || !manifest) {
    const text = context.maskText(edited?.body ?? '')
    return draw(`Edit event #${edited?.number}`, jsonForm(context, route ?? '', text, edited))
  }
  const names = namesOf(manifest)
  const name = names.find((one) => one === wanted) ?? names[0] ?? ''
  const called = manifest.functions[name]
  const asJson = query.as === 'json' || !called
  const deployments = context
    .deployments()
    .filter((one) => one.route === manifest.name && one.status !== 'stopped')
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'))
  const chosen = deployments.find(({ id }) => id === query.deployment) ?? deployments[0]
  const id = query.deployment === 'none' ? undefined : chosen?.id
  const groups = manifests.map((one) => {
    const group = namesOf(one).map((title) => [`${one.name}/${title}`, title] as const)
    return html`<optgroup label="${one.name}">${options(group, `${manifest.name}/${name}`)}</optgroup>`
  })
  const places = deployments.map((one) => [one.id, `${one.id} · ${one.status}`] as const)
  const none = ['none', 'none: the host’s shared credentials'] as const
  const url = (as: string) => address('/timeline', { ...without(query, 'as'), as })
  const forms = [
    ['Form', url(''), !asJson],
    ['JSON', url('json'), asJson],
  ] as const
  const effect = called?.effectful ? 'It has an effect, once for each delivery id.' : 'It only reads.'
  const functionCall = { name }
  const event = { name: 'FUNCTION_CALL', functionCall, ...(id !== undefined && { deployment: { id } }) }
  const form = { id: `form-${manifest.name}-${name}-${id}`, action: 'event', button: `Send ${name}` }
  const fields = () =>
    schemaFields(called?.arguments ?? {}, 'event.functionCall.arguments', exampleOf(called?.arguments))
  return draw(
    'New event',
    html`<div class="field-row" id="chooser">
      ${field('choose-event', 'Event or function', html`<select id="choose-event" data-parameter="new">${groups}</select>`)}
      ${field('choose-deployment', 'Deployment', select(html`id="choose-deployment" data-parameter="deployment"`, [...places, none], id ?? 'none'))}</div>
    ${called && hint(`${called.description} ${effect}`)}
    ${called && tabs('Form or JSON', forms)}
    ${
      asJson
        ? jsonForm(context, manifest.name, JSON.stringify(exampleEvent(context, manifest, name, id), null, 2))
        : sendForm({ ...form, body: { route: manifest.name, event } }, fields())
    }`,
  )
}

/** The functions of an integration, and its events. */
function namesOf({ functions, events }: Manifest): string[] {
  return [...Object.keys(functions), ...events.filter((event) => event !== 'FUNCTION_CALL')]
}

function jsonForm({ world }: PageContext, route: string, text: string, edited?: TimelineEntry): Html {
  const same = edited?.deliveryId ? [['same', `the same: ${edited.deliveryId}`] as const] : []
  const secrets = text.includes(MASK) ? `Write a secret in place of each ${MASK}.` : ''
  const signed = world.webhookSecret
    ? 'The host accepts only the right signature.'
    : 'Any signature is accepted: PLATFORM_WEBHOOK_SECRET=whsec_… npm start makes the host check it.'
  const control = (name: string, label: string, choices: Parameters<typeof options>[0]) =>
    field(`raw-${name}`, label, select(html`id="raw-${name}" name="${name}"`, choices))
  const area = html`<textarea id="raw-body" name="text" rows="14" spellcheck="false" aria-describedby="raw-hint">
${text}</textarea>`
  const about = html`<p class="hint" id="raw-hint">It is sent as it is, broken JSON included. ${secrets} ${signed}</p>`
  const signatures = ['right', 'wrong', 'missing'].map((one) => [one, one] as const)
  const id = `json-${route}-${edited?.number ?? text.length}`
  return sendForm(
    { id, action: 'raw', body: { route, ...(edited && { number: edited.number }) }, button: 'Send' },
    html`${field('raw-body', 'Body', area, about)}
    <div class="field-row">${control('id', 'Delivery id', [['new', 'a new one'], ...same, ['none', 'none']])}
      ${control('signature', 'Signature', signatures)}</div>`,
  )
}

/** An event of this name, or a call of the function of this name. */
function exampleEvent(context: PageContext, manifest: Manifest, name: string, id?: string): object {
  const { name: route, functions, downloads } = manifest
  const deployment = id === undefined ? {} : { deployment: { id } }
  if (Object.hasOwn(functions, name)) {
    const functionCall = { name, arguments: exampleOf(functions[name]?.arguments) }
    return { name: 'FUNCTION_CALL', ...deployment, functionCall }
  }
  const more: Readonly<Record<string, object>> = {
    DEPLOYMENT_CREATED: { deployment: { id: context.freeId(route), inputs: {} } },
    WEBHOOK_CHALLENGE: { challenge: 'c_1' },
    DOWNLOAD_STARTED: { download: { id: 'dl_1', file: downloads[0] } },
    DEPLOYMENT_DELETED: { deployment: { id: id ?? 'dep_1' } },
  }
  return { name, ...deployment, ...more[name] }
}
