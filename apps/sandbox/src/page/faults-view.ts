/** Breaks the next calls, and tells on every view what is broken. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { exampleMail } from './examples.ts'
import { faultKinds, faultTargets, titleOf } from './faults.ts'
import { actionButton, field, type Html, options } from './html.ts'
import { sendForm } from './schema-form.ts'

/** A button, and the form behind it. */
export function breakButton(context: PageContext): Html {
  const places = faultTargets(context).map(({ name, title }) => [name, title] as const)
  const kinds = Object.entries(faultKinds).map(
    ([name, { title, hint }], index) =>
      html`<label class="choice"><input type="radio" name="kind" value="${name}" ${index === 0 && html`checked`}><span>${title}. <span class="hint">${hint}</span></span></label>`,
  )
  const input = (name: string, attributes: Html) =>
    html`<input id="fault-${name}" name="${name}" ${attributes}>`
  const fields = html`<div class="field-row">${field('fault-target', 'Where', html`<select id="fault-target" name="target">${options(places)}</select>`)}
      ${field('fault-times', 'For the next … calls', input('times', html`type="number" value="1" min="1" max="100"`))}
      ${field('fault-path', 'Only paths with', input('path', html`placeholder="any; * is any text" spellcheck="false"`))}
      <div data-shown-when='{"kind":"delay"}' hidden>${field('fault-delayMs', 'Delay (ms)', input('delayMs', html`type="number" value="3000" min="1"`))}</div></div>
    <fieldset class="field"><legend>What</legend>${kinds}</fieldset>`
  return html`<button type="button" class="button" command="show-modal" commandfor="break">Break the next call</button>
    <dialog id="break" aria-labelledby="break-title"><header class="row"><h2 id="break-title">Break the next call</h2>
      <button type="button" class="button push" command="close" commandfor="break">Close</button></header>
      ${sendForm({ id: 'break-form', action: 'faults', button: 'Break it' }, fields)}</dialog>`
}

/** On every view, so that nobody looks for a bug because of a forgotten fault. */
export function brokenNow(context: PageContext): Html | undefined {
  const broken = faultTargets(context).flatMap(({ name, title, faults }) =>
    [...Map.groupBy(faults.pending(), titleOf)].map(([fault, { length }]) => {
      const calls = length === 1 ? 'the next call' : `the next ${plural(length, 'call')}`
      const [label, event] = probe(context, name)
      return html`<li class="row"><span><strong>${title}:</strong> ${fault}, for ${calls}.</span>
        ${actionButton(label, 'event', event, { look: 'link', target: 'follow' })}
        ${actionButton('Take back', 'take-back', { target: name, title: fault }, { look: 'link', title: `Take back: ${fault}` })}</li>`
    }),
  )
  if (broken.length === 0) return undefined
  return html`<div class="notice warn row"><strong>Broken on purpose</strong><ul class="row">${broken}</ul>
    ${broken.length > 1 && actionButton('Mend everything', 'mend', {}, { look: 'link' })}</div>`
}

/** An event whose calls reach a target. */
function probe(context: PageContext, target: string): readonly [label: string, body: object] {
  const call = (route: string, name: string, args: object) => ({
    route,
    event: { name: 'FUNCTION_CALL', functionCall: { name, arguments: args } },
  })
  const deployment = { id: context.freeId('mailer'), inputs: {} }
  if (target === 'mail') return ['Send a mail now', call('mailer', 'sendEmail', exampleMail(context))]
  if (target === 'identity') return ['Count the users now', call('idp', 'countUsers', {})]
  return ['Deploy the mailer now', { route: 'mailer', event: { name: 'DEPLOYMENT_CREATED', deployment } }]
}
