/** Faults: a form for new ones, the pending ones, and what came of the others. */
import type { Fault } from '@org/core/testing'
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { type FaultTarget, faultKinds, faultTargets, judgeFault, titleOf } from './faults.ts'
import { exampleMail } from './functions-view.ts'
import type { View } from './html.ts'
import { actionButton, card, field, type Html, hint, lines, options, type Query, status } from './html.ts'
import { sendForm } from './schema-form.ts'

const MET_SHOWN = 10

export function faultsView(context: PageContext, query: Query): View {
  const targets = faultTargets(context)
  const kinds = Object.entries(faultKinds).map(
    ([name, kind], index) =>
      html`<label class="row choice"><input type="radio" name="kind" value="${name}" ${index === 0 && html`checked`}><span>${kind.title}<span class="hint">${kind.hint}</span></span></label>`,
  )
  const places = targets.map(({ name, title }) => [name, title] as const)
  const input = (id: string, name: string, attributes: Html) =>
    html`<input id="${id}" name="${name}" ${attributes}>`
  const form = sendForm(
    { action: 'faults', button: 'Break it', target: '#fault-result' },
    html`${field('fault-target', 'Where', html`<select id="fault-target" name="target">${options(places, query.target)}</select>`)}
      <fieldset class="field"><legend>What</legend>${kinds}</fieldset>
      ${field('fault-times', 'For the next … calls', input('fault-times', 'times', html`type="number" value="1" min="1" max="100"`))}
      <div data-shown-when='{"kind":"delay"}' hidden>${field('fault-delay', 'Delay (ms)', input('fault-delay', 'delayMs', html`type="number" value="3000" min="1"`))}</div>
      ${field('fault-path', 'Only paths with', input('fault-path', 'path', html`placeholder="any path" spellcheck="false" aria-describedby="path-hint"`), hint('Empty: any call. A * matches any text.', 'path-hint'))}`,
  )
  return {
    title: 'Faults',
    lead: 'Break the next calls to a provider or to the platform. The timeline shows how the host reacts.',
    body: html`<div class="columns">
      ${card('Break something', html`${form}<div id="fault-result" class="result" aria-live="polite"></div>`)}
      <div id="pending" data-live>${targets.map((one) => targetCard(context, one))}
        ${card('What came of it', lines(metFaults(context), 'A fault that meets a call shows up here, with the host’s reaction.'))}</div>
    </div>`,
  }
}

/** A fault that waits for its calls, and an event that meets it. */
export function faultMade(context: PageContext, target: FaultTarget, fault: Fault, times: number): Html {
  return html`<p class="notice warn"><span><strong>${target.title}:</strong> ${titleOf(fault)}, for the next ${times === 1 ? 'call' : plural(times, 'call')}.</span>
    ${probe(context, target.name, 'primary')}</p>`
}

function targetCard(context: PageContext, { title, name, faults }: FaultTarget): Html {
  const pending = faults.pending()
  const groups = [...Map.groupBy(pending, titleOf)].map(
    ([
      fault,
      all,
    ]) => html`<span class="row">${fault} <span class="muted">for ${plural(all.length, 'call')}</span>
      <span class="push">${actionButton('Take back', 'take-back', { target: name, title: fault }, { look: 'quiet', title: `Take back: ${fault}` })}</span></span>`,
  )
  const isBroken = pending.length > 0
  const state = isBroken
    ? status('warn', `${plural(pending.length, 'fault')} to come`)
    : status('ok', 'works')
  const beside = html`${state}<span class="push">${isBroken && probe(context, name)}</span>`
  return html`<div data-target="${name}">${card(title, isBroken && lines(groups, ''), beside)}</div>`
}

/** A button that sends an event whose calls reach a target. */
function probe(context: PageContext, target: string, look = 'secondary'): Html {
  const call = (route: string, name: string, args: object) => ({
    route,
    event: { name: 'FUNCTION_CALL', functionCall: { name, arguments: args } },
  })
  const deployment = { id: context.freeId('mailer'), inputs: {} }
  const deploy = { route: 'mailer', event: { name: 'DEPLOYMENT_CREATED', deployment } }
  const probes: Readonly<Record<string, readonly [label: string, body: object]>> = {
    mail: ['Send a mail now', call('mailer', 'sendEmail', exampleMail(context))],
    identity: ['Count the users now', call('idp', 'countUsers', {})],
  }
  const [label, body] = probes[target] ?? ['Deploy the mailer now', deploy]
  return actionButton(label, 'event', body, { look, target: '#fault-result' })
}

/** The faults that calls met: what was expected of the host, and whether it came. */
function metFaults({ timeline }: PageContext): Html[] {
  const met = timeline.list().flatMap((entry) =>
    entry.calls.flatMap((call) => {
      const judged = call.fault && judgeFault(call.fault, call, entry)
      if (!call.fault || !judged) return []
      const { expected, saw, fulfilled } = judged
      const outcome = fulfilled
        ? status('ok', 'as expected')
        : fulfilled === undefined
          ? status('busy', 'waiting')
          : status('bad', 'not as expected')
      return html`<p class="row"><strong>${titleOf(call.fault)}</strong> <code>${call.method} ${call.path.replace(/\?.*/, '')}</code>
        <a class="push" href="/timeline?event=${entry.number}">event ${entry.number}</a></p>
        <p class="row">expected: ${expected}, saw: ${saw} ${outcome}</p>`
    }),
  )
  return met.slice(0, MET_SHOWN)
}
