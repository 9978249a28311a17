/** Breaks the next calls, and tells on every view what is broken. */
import type { Fault } from '@org/core/testing'
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { actionButton, field, type Html, select } from './html.ts'
import { sendForm } from './schema-form.ts'

const retryAfter = { 'retry-after': '1' }

/** The kinds of faults, by name: the title, the reaction of the host, and the fault. */
const kinds: Readonly<Record<string, readonly [title: string, hint: string, fault: Fault]>> = {
  'rate-limit': [
    '429, too many requests',
    'Asks for a pause of one second. Nothing happened, so the host waits and retries.',
    { status: 429, headers: retryAfter, body: { Message: 'Too many requests.' } },
  ],
  unavailable: [
    '503, unavailable',
    'The host retries a read. It does not retry a send, which may have gone out.',
    { status: 503, headers: retryAfter, body: { Message: 'Down for maintenance.' } },
  ],
  unauthorized: [
    '401, credentials refused',
    'As if the key had been revoked. The host does not retry.',
    { status: 401, body: { ErrorCode: 10, Message: 'The token was refused.' } },
  ],
  delay: ['Slow response', 'It is three seconds late. The host waits for up to ten.', { delayMs: 3_000 }],
  'cut-before': [
    'Connection cut before anything happens',
    'The host can’t tell it from a lost response.',
    { cut: 'before' },
  ],
  'cut-after': [
    'Done, but the response is lost',
    'The worst case: the effect happened, and the host can’t know.',
    { cut: 'after' },
  ],
  html: [
    'HTML page instead of JSON',
    'A proxy in front of the provider may respond like this, with status 200.',
    { html: true },
  ],
}

/** The fault of a kind; `undefined` if there is no such kind. */
export function faultOf(kind: string): Fault | undefined {
  return Object.hasOwn(kinds, kind) ? kinds[kind]?.[2] : undefined
}

/** The title of a fault. */
export function titleOf(fault: Fault): string {
  const known = Object.values(kinds).find(([, , one]) => one === fault)
  return known?.[0] ?? ('status' in fault ? `status ${fault.status}` : 'a fault')
}

/** A button, and the form behind it. */
export function breakButton({ world }: PageContext): Html {
  const targets = Object.keys(world.faults).map((target) => [target, target] as const)
  const choices = Object.entries(kinds).map(
    ([name, [title, hint]], index) =>
      html`<label class="choice"><input type="radio" name="kind" value="${name}" ${index === 0 && html`checked`}><span><strong>${title}</strong><span class="hint">${hint}</span></span></label>`,
  )
  const fields = html`${field('fault-target', 'Where', select(html`id="fault-target" name="target"`, targets))}
    <fieldset class="field"><legend>What</legend>${choices}</fieldset>`
  return html`<button type="button" class="button" command="show-modal" commandfor="break">Break the next call</button>
    <dialog id="break" aria-labelledby="break-title"><header class="row"><h2 id="break-title">Break the next call</h2>
      <button type="button" class="button push" command="close" commandfor="break">Close</button></header>
      ${sendForm({ id: 'break-form', action: 'break', button: 'Break it' }, fields)}</dialog>`
}

/** On every view, so that nobody looks for a bug because of a forgotten fault. */
export function brokenNow(context: PageContext): Html | undefined {
  const broken = Object.entries(context.world.faults).flatMap(([target, queue]) =>
    [...Map.groupBy(queue.pending(), titleOf)].map(([title, { length }]) => {
      const calls = length === 1 ? 'the next call' : `the next ${plural(length, 'call')}`
      return html`<li class="row"><span><strong>${target}:</strong> ${title}, for ${calls}.</span>
        ${actionButton('Take back', 'mend', { target, title }, { look: 'link', title: `Take back: ${title}` })}</li>`
    }),
  )
  if (broken.length === 0) return undefined
  return html`<section class="notice warn row" aria-label="Pending faults"><strong>Broken on purpose</strong><ul class="row">${broken}</ul></section>`
}
