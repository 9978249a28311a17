/** Writes an event, from nothing or from one that was delivered: any body, with any signature. */
import type { Manifest } from '@org/core/internal'
import { html } from 'hono/html'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exampleOf } from './functions-view.ts'
import { field, type Html, hint, options, tabs } from './html.ts'
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
  const url = (...parts: unknown[]) => `/timeline?new=${parts.join('/')}`
  const routes = manifests.map((one) => [one.name, url(one.name), one === manifest] as const)
  const titles = templates.map((one) => [one[0], url(manifest?.name, one[0]), one === chosen] as const)
  const same = edited?.deliveryId ? [['same', `the same: ${edited.deliveryId}`] as const] : []
  const signatures = ['right', 'wrong', 'missing'].map((one) => [one, one] as const)
  const secrets = edited ? ' Values that read [redacted] keep their secrets.' : ''
  const about = world.webhookSecret
    ? 'The host accepts only the right signature.'
    : 'The host has no secret, so it accepts any signature. Start it with PLATFORM_WEBHOOK_SECRET=whsec_… to see it refuse.'
  return html`<section class="exchange" aria-label="Write an event">
    <h2>${edited ? `Edit event #${edited.number}` : 'New event'}</h2>
    ${!edited && html`${tabs('Integration', routes)} ${tabs('Events and functions', titles)}`}
    ${sendForm(
      { action: 'raw', body: edited ? { number: edited.number } : {}, target: 'follow', button: 'Send' },
      html`${field(
        'raw-body',
        'Body',
        html`<textarea id="raw-body" name="text" rows="12" spellcheck="false" aria-describedby="raw-hint">
${body}</textarea>`,
        hint(`It is sent as it is, broken JSON included.${secrets}`, 'raw-hint'),
      )}
      <div class="field-row">
        ${field('raw-route', 'Route', html`<input type="text" id="raw-route" name="route" value="${edited?.route ?? manifest?.name}" list="raw-routes" spellcheck="false"><datalist id="raw-routes">${options(manifests.map((one) => [one.name, one.name]))}</datalist>`)}
        ${field('raw-id', 'Delivery id', html`<select id="raw-id" name="id">${options([['new', 'a new one'], ...same, ['none', 'none']])}</select>`)}
        ${field('raw-signature', 'Signature', html`<select id="raw-signature" name="signature" aria-describedby="signature-hint">${options(signatures)}</select>`)}</div>
      ${hint(about, 'signature-hint')}`,
    )}</section>`
}

/** An example of each function and of each event, from the manifest. */
function templatesOf(context: PageContext, manifest: Manifest): [title: string, event: object][] {
  const { name, events, functions, downloads } = manifest
  const id = context.deployments().find(({ route, status }) => route === name && status === 'running')?.id
  const deployment = id === undefined ? {} : { deployment: { id } }
  const more: Readonly<Record<string, object>> = {
    DEPLOYMENT_CREATED: { deployment: { id: context.freeId(name), inputs: {} } },
    WEBHOOK_CHALLENGE: { challenge: 'c_1' },
    DOWNLOAD_STARTED: { download: { id: 'dl_1', file: downloads[0] } },
    DEPLOYMENT_DELETED: { deployment: { id: id ?? 'dep_1' } },
  }
  const ofEvents = events
    .filter((event) => event !== 'FUNCTION_CALL')
    .map((event): [string, object] => [event, { name: event, ...deployment, ...more[event] }])
  const ofFunctions = Object.keys(functions).map((title): [string, object] => {
    const functionCall = { name: title, arguments: exampleOf(context, name, title, id ?? '') }
    return [title, { name: 'FUNCTION_CALL', ...deployment, functionCall }]
  })
  return [...ofFunctions, ...ofEvents]
}
