/** Faults: the kinds that the page can cause, their targets, a form for new ones, and the pending ones. */
import type { Fault } from '@org/core/testing'
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { judgeFault } from './fault-verdict.ts'
import { exampleMail } from './functions-view.ts'
import { actionButton, type Html, type Query, status, type View } from './html.ts'
import { sendForm } from './schema-form.ts'

const MET_SHOWN = 10
const retryAfter = { 'retry-after': '1' }

/** The kinds of faults, by name; a hint says how the host reacts. */
const faultKinds: Readonly<Record<string, { title: string; hint: string; fault: Fault }>> = {
  'rate-limit': {
    title: '429, too many requests',
    hint: 'Asks for a pause of one second. Nothing happened, so the host waits and retries.',
    fault: { status: 429, headers: retryAfter, body: { Message: 'Too many requests.' } },
  },
  unavailable: {
    title: '503, unavailable',
    hint: 'The host retries a read. It does not retry a send, which may have gone out.',
    fault: { status: 503, headers: retryAfter, body: { Message: 'Down for maintenance.' } },
  },
  error: {
    title: '500, internal error',
    hint: 'Like 503, but without a time for the retry.',
    fault: { status: 500, body: { Message: 'Internal error.' } },
  },
  unauthorized: {
    title: '401, credentials refused',
    hint: 'As if the key had been revoked. The host does not retry.',
    fault: { status: 401, body: { ErrorCode: 10, Message: 'The token was refused.' } },
  },
  delay: {
    title: 'Slow response',
    hint: 'The response is late. The host gives up after ten seconds.',
    fault: { delayMs: 0 },
  },
  'cut-before': {
    title: 'Connection cut before anything happens',
    hint: 'The host can’t tell it from the next fault.',
    fault: { cut: 'before' },
  },
  'cut-after': {
    title: 'Done, but the response is lost',
    hint: 'The worst case: the effect happened, and the host can’t know.',
    fault: { cut: 'after' },
  },
  'cut-during': {
    title: 'Done, but the response breaks off',
    hint: 'Half a response, then the connection is cut.',
    fault: { cut: 'during' },
  },
  html: {
    title: 'HTML page instead of JSON',
    hint: 'A proxy in front of the provider may respond like this, with status 200.',
    fault: { html: true },
  },
}

type FaultTarget = ReturnType<typeof faultTargets>[number]

/** The emulated targets; a real provider can’t be broken. */
export function faultTargets({ world }: PageContext) {
  const targets = [
    { name: 'mail', title: 'Mail provider', faults: world.mail.emulator?.faults },
    { name: 'identity', title: 'Identity provider', faults: world.identityFaults },
    { name: 'platform', title: 'Platform', faults: world.platform.faults },
  ]
  return targets.flatMap(({ name, title, faults }) => (faults ? [{ name, title, faults }] : []))
}

const made = new WeakMap<Fault, { kind: string; title: string }>()

/**
 * Makes one fault.
 *
 * @param delayMs for the kind `delay`
 * @param path a part of the path of the affected requests; a `*` matches any text
 * @returns `undefined` if there is no such kind
 */
export function makeFault(kind: string, delayMs = 0, path = ''): Fault | undefined {
  const known = Object.hasOwn(faultKinds, kind) ? faultKinds[kind] : undefined
  if (!known) return undefined
  const fault: Fault = kind === 'delay' ? { delayMs } : { ...known.fault }
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  if (path !== '') fault.path = new RegExp(escaped.replaceAll('*', '.*'))
  made.set(fault, { kind, title: path === '' ? known.title : `${known.title}, at ${path}` })
  return fault
}

/** The title of a fault. */
export function titleOf(fault: Fault): string {
  return made.get(fault)?.title ?? 'Another fault'
}

/** The kind of a fault, if the page made it. */
function kindOf(fault: Fault): string | undefined {
  return made.get(fault)?.kind
}

/** A fault of {@link makeFault}, and an event that meets it. */
export function faultMade(context: PageContext, target: FaultTarget, fault: Fault, times: number): Html {
  return html`<p class="notice warn"><span><strong>${target.title}:</strong> ${titleOf(fault)}, for the next ${times === 1 ? 'call' : plural(times, 'call')}.</span>
    ${probe(context, target.name, 'primary')}</p>`
}

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
          { action: 'faults', button: 'Break it', target: '#fault-result' },
          html`<div class="field"><label for="fault-target">Where</label><select id="fault-target" data-extra="target">${targets.map(target)}</select></div>
          <fieldset class="field"><legend>What</legend>${kinds}</fieldset>
          <div class="field"><label for="fault-times">For the next … calls</label><input type="number" id="fault-times" data-extra="times" value="1" min="1" max="100"></div>
          <div class="field" data-shown-when="${JSON.stringify({ kind: { const: 'delay' } })}" hidden><label for="fault-delay">Delay (ms)</label><input type="number" id="fault-delay" data-extra="delayMs" value="3000" min="1"></div>
          <div class="field"><label for="fault-path">Only paths with</label><input type="text" id="fault-path" data-extra="path" placeholder="any path" autocomplete="off" spellcheck="false" aria-describedby="fault-path-hint"><p class="hint" id="fault-path-hint">Empty: any call. A * matches any text.</p></div>`,
        )}
        <div id="fault-result" class="result" aria-live="polite"></div></section>
      <div id="pending" data-live>${targets.map((one) => targetCard(context, one))}${metFaults(context)}</div>
    </div>`,
  }
}

function targetCard(context: PageContext, { title, name, faults }: FaultTarget): Html {
  const pending = faults.pending()
  const lines = [...Map.groupBy(pending, titleOf)].map(
    ([
      fault,
      all,
    ]) => html`<li class="row">${fault} <span class="muted">for ${plural(all.length, 'call')}</span>
      <span class="push">${actionButton('Take back', 'take-back', { target: name, title: fault }, { look: 'quiet', title: `Take back: ${fault}` })}</span></li>`,
  )
  return html`<section class="card" aria-label="${title}" data-target="${name}"><header class="card-title"><h2>${title}</h2>${pending.length === 0 ? status('ok', 'works') : status('warn', `${plural(pending.length, 'fault')} to come`)}
    <span class="push">${pending.length === 0 ? '' : probe(context, name)}</span></header>
    ${pending.length === 0 ? '' : html`<ul class="log">${lines}</ul>`}
  </section>`
}

/** A button that sends an event whose calls reach a target. */
function probe(context: PageContext, target: string, look = 'secondary'): Html {
  const call = (name: string, args: object) => ({
    name: 'FUNCTION_CALL',
    functionCall: { name, arguments: args },
  })
  const id = context.freeId('mailer')
  const [label, route, event] =
    target === 'mail'
      ? (['Send a mail now', 'mailer', call('sendEmail', exampleMail(context))] as const)
      : target === 'identity'
        ? (['Count the users now', 'idp', call('countUsers', {})] as const)
        : ([
            'Deploy the mailer now',
            'mailer',
            { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: {} } },
          ] as const)
  return actionButton(label, 'event', { route, event }, { look, target: '#fault-result' })
}

/** The faults that calls met: what was expected of the host, and whether it came. */
function metFaults({ timeline }: PageContext): Html {
  const met = timeline
    .list()
    .flatMap((entry) =>
      entry.calls.flatMap((call) =>
        call.fault && kindOf(call.fault) ? [{ entry, call, fault: call.fault }] : [],
      ),
    )
  const line = ({ entry, call, fault }: (typeof met)[number]) => {
    const { expected, saw, fulfilled } = judgeFault(kindOf(fault) ?? '', call, entry)
    const tone = fulfilled === undefined ? 'busy' : fulfilled ? 'ok' : 'bad'
    return html`<li><p class="row"><strong>${titleOf(fault)}</strong> <code>${call.method} ${call.path.replace(/\?.*/, '')}</code>
        <a class="push" href="/timeline?event=${entry.number}">event ${entry.number}</a></p>
      <p class="row">expected: ${expected}, saw: ${saw} ${status(tone, fulfilled === undefined ? 'waiting' : fulfilled ? 'as expected' : 'not as expected')}</p></li>`
  }
  return html`<section class="card" aria-label="What came of it"><h2>What came of it</h2>
    ${met.length === 0 ? html`<p class="hint">A fault that meets a call shows up here, with the host’s reaction.</p>` : html`<ul class="log">${met.slice(0, MET_SHOWN).map(line)}</ul>`}</section>`
}
