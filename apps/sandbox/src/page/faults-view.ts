/**
 * Faults: what goes wrong next, and where.
 *
 * @module
 */
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { type FaultTarget, faultKinds, faultTargets, titleOf } from './fault-kinds.ts'
import { count, type Html, status } from './html.ts'
import type { View } from './layout.ts'

/** The view. */
export function faultsView(context: PageContext, query: Readonly<Record<string, string>>): View {
  const targets = faultTargets(context)
  return {
    title: 'Faults',
    lead: 'Break the provider or the platform for the next calls. What the host makes of it is in the timeline.',
    body: html`<div class="columns form-left">
      <section class="card" aria-label="New fault"><h2>Break something</h2>
        <form data-send="faults" data-message novalidate>
          <div class="field"><label for="fault-target">Where</label><select id="fault-target" data-extra="target">${targets.map(({ name, title }) => html`<option value="${name}" ${name === query.target ? html`selected` : ''}>${title}</option>`)}</select></div>
          <fieldset class="choices"><legend>What</legend>${Object.entries(faultKinds).map(
            ([name, { title, hint }], index) =>
              html`<label class="choice"><input type="radio" name="kind" data-extra="kind" value="${name}" ${index === 0 ? html`checked` : ''}><span>${title}<span class="hint">${hint}</span></span></label>`,
          )}</fieldset>
          <div class="pair"><div class="field"><label for="fault-times">For the next … calls</label><input type="number" id="fault-times" data-extra="times" value="1" min="1" max="100"></div>
          <div class="field" data-visible-when="${JSON.stringify({ kind: 'delay' })}" hidden><label for="fault-delay">Delay (ms)</label><input type="number" id="fault-delay" data-extra="delayMs" value="3000" min="1"></div></div>
          <div class="field"><label for="fault-path">Only paths with</label><input type="text" id="fault-path" data-extra="path" placeholder="/email" autocomplete="off" spellcheck="false" aria-describedby="fault-path-hint"><p class="hint" id="fault-path-hint">Left out: any call. A * stands for anything.</p></div>
          <p class="fault form-fault" role="alert" hidden></p>
          <button class="button primary">Break it</button>
        </form></section>
      <section id="pending" data-live aria-label="Still to come">${targets.map(targetCard)}</section>
    </div>`,
  }
}

function targetCard({ title, name, faults }: FaultTarget): Html {
  const pending = faults.pending()
  const groups = Map.groupBy(pending, (fault) =>
    [titleOf(fault), pathOf(fault.path)].filter(Boolean).join(', '),
  )
  return html`<section class="card" aria-label="${title}" data-target="${name}"><header class="card-title"><h2>${title}</h2>${pending.length === 0 ? status('ok', 'works') : status('warn', `${count(pending.length, 'fault')} to come`)}</header>
    ${pending.length === 0 ? html`<p class="hint">Nothing is broken.</p>` : html`<ul class="log">${[...groups].map(([what, all]) => html`<li>${what} <span class="muted">for ${count(all.length, 'call')}</span></li>`)}</ul>`}
  </section>`
}

function pathOf(path: string | RegExp | undefined): string {
  return path === undefined
    ? ''
    : `at ${path instanceof RegExp ? path.source.replaceAll('\\/', '/').replaceAll('.*', '*') : path}`
}
