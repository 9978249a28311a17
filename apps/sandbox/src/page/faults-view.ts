/**
 * Faults: a form for new ones, and the pending ones of each target.
 *
 * @module
 */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { type FaultTarget, faultKinds, faultTargets, titleOf } from './faults.ts'
import { type Html, type Query, status, type View } from './html.ts'
import { sendForm } from './schema-form.ts'

/** The view. */
export function faultsView(context: PageContext, query: Query): View {
  const targets = faultTargets(context)
  const target = ({ name, title }: FaultTarget) =>
    html`<option value="${name}" ${name === query.target ? html`selected` : ''}>${title}</option>`
  const kinds = Object.entries(faultKinds).map(
    ([name, { title, hint }], index) =>
      html`<label class="check-line choice"><input type="radio" name="kind" data-extra="kind" value="${name}" ${index === 0 ? html`checked` : ''}><span>${title}<span class="hint">${hint}</span></span></label>`,
  )
  return {
    title: 'Faults',
    lead: 'Break the next calls to a provider or to the platform. The timeline shows how the host reacts.',
    body: html`<div class="columns">
      <section class="card" aria-label="New fault"><h2>Break something</h2>
        ${sendForm(
          { action: 'faults', button: 'Break it' },
          {},
          html`<div class="field"><label for="fault-target">Where</label><select id="fault-target" data-extra="target">${targets.map(target)}</select></div>
          <fieldset class="field"><legend>What</legend>${kinds}</fieldset>
          <div class="field"><label for="fault-times">For the next … calls</label><input type="number" id="fault-times" data-extra="times" value="1" min="1" max="100"></div>
          <div class="field" data-visible-when="${JSON.stringify({ kind: 'delay' })}" hidden><label for="fault-delay">Delay (ms)</label><input type="number" id="fault-delay" data-extra="delayMs" value="3000" min="1"></div>
          <div class="field"><label for="fault-path">Only paths with</label><input type="text" id="fault-path" data-extra="path" placeholder="/email" autocomplete="off" spellcheck="false" aria-describedby="fault-path-hint"><p class="hint" id="fault-path-hint">Empty: any call. A * matches any text.</p></div>`,
        )}</section>
      <section id="pending" data-live aria-label="Pending">${targets.map(targetCard)}</section>
    </div>`,
  }
}

function targetCard({ title, name, faults }: FaultTarget): Html {
  const pending = faults.pending()
  const groups = Map.groupBy(pending, (fault) =>
    [titleOf(fault), pathOf(fault.path)].filter(Boolean).join(', '),
  )
  const lines = [...groups].map(
    ([fault, all]) => html`<li>${fault} <span class="muted">for ${plural(all.length, 'call')}</span></li>`,
  )
  return html`<section class="card" aria-label="${title}" data-target="${name}"><header class="card-title"><h2>${title}</h2>${pending.length === 0 ? status('ok', 'works') : status('warn', `${plural(pending.length, 'fault')} to come`)}</header>
    ${pending.length === 0 ? html`<p class="hint">Nothing is broken.</p>` : html`<ul class="log">${lines}</ul>`}
  </section>`
}

function pathOf(path: string | RegExp | undefined): string {
  if (path === undefined) return ''
  return `at ${path instanceof RegExp ? path.source.replaceAll('\\/', '/').replaceAll('.*', '*') : path}`
}
