/** Writes an event, from nothing or from one that was delivered: any body, with any signature. */
import type { Manifest } from '@org/core/internal'
import { html } from 'hono/html'
import { at } from '../world/json.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exampleOf } from './functions-view.ts'
import { type Html, tabs } from './html.ts'
import { sendForm } from './schema-form.ts'

/**
 * The form for an event.
 *
 * @param edited the event to begin with
 * @param template otherwise a route, and the name of an event or of a function: `mailer/sendEmail`
 */
export function editor(context: PageContext, edited: TimelineEntry | undefined, template: string): Html {
  const { manifests, world } = context
  const [name, choice] = template.split('/')
  const manifest = manifests.find((one) => one.name === (edited?.route ?? name)) ?? manifests[0]
  const templates = manifest ? templatesOf(context, manifest) : []
  const chosen = templates.find(([title]) => title === choice) ?? templates[0]
  const body = edited ? context.maskText(edited.body ?? '') : JSON.stringify(chosen?.[1] ?? {}, null, 2)
  const option = (value: string, label: string) => html`<option value="${value}">${label}</option>`
  const choices = html`${tabs(
    'Integration',
    manifests.map((one) => [one.name, `/timeline?new=${one.name}`, one === manifest]),
  )}
  ${tabs(
    'Events and functions',
    templates.map(([title]) => [title, `/timeline?new=${manifest?.name}/${title}`, title === chosen?.[0]]),
  )}`
  const number = edited ? { number: edited.number } : {}
  return html`<section class="exchange" aria-label="Write an event">
    <h2>${edited ? `Edit event #${edited.number}` : 'New event'}</h2>
    ${edited ? '' : choices}
    ${sendForm(
      { action: 'raw', body: number, target: 'follow', button: 'Send' },
      html`<div class="field"><label for="raw-body">Body</label><textarea id="raw-body" data-extra="text" rows="12" spellcheck="false" aria-describedby="raw-hint">
${body}</textarea><p class="hint" id="raw-hint">It is sent as it is, broken JSON included. ${edited ? 'Values that read [redacted] keep their secrets.' : ''}</p></div>
      <div class="field-row">
      <div class="field"><label for="raw-route">Route</label><input type="text" id="raw-route" data-extra="route" value="${edited?.route ?? manifest?.name}" list="raw-routes" autocomplete="off" spellcheck="false">
        <datalist id="raw-routes">${manifests.map((one) => html`<option value="${one.name}">`)}</datalist></div>
      <div class="field"><label for="raw-id">Delivery id</label><select id="raw-id" data-extra="id">${option('new', 'a new one')}${edited?.deliveryId ? option('same', `the same: ${edited.deliveryId}`) : ''}${option('none', 'none')}</select></div>
      <div class="field"><label for="raw-signature">Signature</label><select id="raw-signature" data-extra="signature" aria-describedby="signature-hint">${option('right', 'right')}${option('wrong', 'wrong')}${option('missing', 'missing')}</select></div></div>
      <p class="hint" id="signature-hint">${world.webhookSecret ? 'The host accepts only the right one.' : 'The host has no secret, so it accepts any. Start it with PLATFORM_WEBHOOK_SECRET=whsec_… to see it refuse.'}</p>`,
    )}</section>`
}

/** An example of each event and of each function, from the manifest. */
function templatesOf(context: PageContext, manifest: Manifest): [title: string, event: object][] {
  const { name, events, functions, downloads } = manifest
  const id = context.deployments().find(({ route, status }) => route === name && status === 'running')?.id
  const deployment = id === undefined ? {} : { deployment: { id } }
  const ofEvents = events
    .filter((event) => event !== 'FUNCTION_CALL')
    .map((event): [string, object] => {
      if (event === 'DEPLOYMENT_CREATED') {
        return [event, { name: event, deployment: { id: context.freeId(name), inputs: {} } }]
      }
      const more = {
        ...(event === 'WEBHOOK_CHALLENGE' && { challenge: 'c_1' }),
        ...(event === 'DOWNLOAD_STARTED' && { download: { id: 'dl_1', file: downloads[0] } }),
        ...(event === 'DEPLOYMENT_DELETED' && { deployment: { id: id ?? 'dep_1' } }),
      }
      return [event, { name: event, ...deployment, ...more }]
    })
  const ofFunctions = Object.keys(functions).map((title): [string, object] => {
    const args = exampleOf(context, name, title, String(at(deployment, 'deployment', 'id') ?? ''))
    return [title, { name: 'FUNCTION_CALL', ...deployment, functionCall: { name: title, arguments: args } }]
  })
  return [...ofFunctions, ...ofEvents]
}
