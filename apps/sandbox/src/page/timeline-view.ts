/** The timeline: the newest events, and the details of the chosen one. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { editor } from './editor-view.ts'
import { exchangeDetail } from './exchange-view.ts'
import { histogram } from './histogram.ts'
import { actionButton, address, empty, type Html, menu, PAGE, type Query, split, type View } from './html.ts'
import { findEvents, outcomes, readFilter, type TimelineFilter } from './search.ts'
import { timelineRows } from './timeline-rows.ts'

/** The newest delivery of each id; the event whose number the person looks for comes first. */
function rowsOf(entries: readonly TimelineEntry[], { text }: TimelineFilter): TimelineEntry[] {
  const rows = [...Map.groupBy(entries, keyOf).values()].flatMap(([newest]) => newest ?? [])
  const asked = rows.findIndex(({ number }) => String(number) === text)
  return asked > 0 ? [...rows.splice(asked, 1), ...rows] : rows
}

function keyOf({ route, deliveryId, number }: TimelineEntry): string {
  return deliveryId === undefined ? String(number) : `${route} ${deliveryId}`
}

/**
 * @returns the address of the page with the chosen event; `undefined` if the address has that page
 */
export function pageOfChosen(context: PageContext, query: Query): string | undefined {
  const chosen = context.timeline.get(Number(query.event))
  if (!chosen || query.start !== undefined) return undefined
  const filter = readFilter(query)
  const rows = rowsOf(findEvents(context, filter), filter)
  const index = rows.findIndex((row) => keyOf(row) === keyOf(chosen))
  const first = rows[index - (index % PAGE)]
  return index < PAGE || !first ? undefined : address('/timeline', { ...query, start: String(first.number) })
}

export function timelineView(context: PageContext, query: Query): View {
  const { timeline } = context
  const filter = readFilter(query)
  const always = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  const anyTime = findEvents(context, { ...filter, ...always })
  const entries = anyTime.filter(({ at }) => at >= filter.from && at <= filter.to)
  const rows = rowsOf(entries, filter)
  const deliveries = Map.groupBy(timeline.list(), keyOf)
  const { event, call, tab, edit, new: fresh, ...rest } = query
  const chosen = timeline.get(Number(event))
  const row = chosen && rows.find((one) => keyOf(one) === keyOf(chosen))
  const edited = timeline.get(Number(edit))
  const back = address('/timeline', rest)
  const detail = chosen
    ? exchangeDetail(context, chosen, query)
    : event !== undefined
      ? html`<article class="exchange" aria-label="Event ${event}">${empty(`Event ${event} is not here any more`, html`<a href="${back}">Show the list</a>`)}</article>`
      : edited || fresh !== undefined
        ? editor(context, edited, fresh ?? '')
        : undefined
  return {
    title: 'Timeline',
    actions: html`<a class="button primary" href="/timeline?new=mailer">New event</a>
      ${menu(
        'Session',
        html`<span id="export" data-live><a class="button quiet" href="${address('/timeline/session.json', rest)}" download>Export session</a>
        <a class="button quiet" href="${address('/timeline/session.json', { ...rest, secrets: '1' })}" download title="The events as they were sent">Export with secrets</a></span>
        <label class="button quiet">Import a session<input class="visually-hidden" type="file" id="import" accept=".json,application/json"></label>
        ${actionButton('Clear events', 'clear', {}, { look: 'quiet' })}`,
      )}
      <button type="button" class="button quiet" id="keys-open" title="Keyboard shortcuts">?</button>`,
    tall: true,
    scripts: ['timeline'],
    body: html`${filterBar(context, filter)}
    <div id="histogram" data-live>${histogram(anyTime, entries, filter, rest)}</div>
    ${split('Events', rows, query, {
      list: (shown) =>
        html`<ol class="rows">${timelineRows(context, shown, {
          chosen: row?.number,
          query: rest,
          deliveries: (entry) => deliveries.get(keyOf(entry))?.length ?? 1,
        })}</ol>`,
      none: rows.length > 0 ? html`` : noRows(context, filter, rest),
      anchorOf: ({ number }) => String(number),
      // A group whose first row was delivered again has moved up; the page stays.
      isAt: ({ number }, anchor) => number <= Number(anchor),
      back: detail && back,
      detail: detail ?? html``,
    })}${keys()}`,
  }
}

/** Says why the list is empty, and how to see something. */
function noRows(context: PageContext, filter: TimelineFilter, query: Query): Html {
  const walked = filter.walk ? 0 : findEvents(context, { ...filter, walk: true }).length
  const show = address('/timeline', { ...query, walk: '1' })
  const filtered = ['text', 'route', 'outcome', 'walk', 'from', 'to'].some((name) => query[name])
  const none = html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, <a href="/timeline?new=mailer">write an event</a>, or use <code>curl</code>.`
  const noMatch = html`No event fits. <a href="/timeline">Clear the filter</a>`
  return html`${filtered ? empty('No match', noMatch) : empty('No event yet', none)}
    ${walked > 0 ? html`<p class="empty"><a class="button" href="${show}">Show the ${plural(walked, 'event')} of the walk</a></p>` : ''}`
}

function filterBar(
  { manifests, timeline }: PageContext,
  { text, route, outcome, walk }: TimelineFilter,
): Html {
  const walked = timeline.list().filter(({ source }) => source === 'walk').length
  const option = (value: string, label: string, chosen: string) =>
    html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`
  return html`<form class="filter" id="filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="text" value="${text}" placeholder="Find anything, or to:ada status:429 #45" autocomplete="off" spellcheck="false"></label>
    <label><span class="visually-hidden">Integration</span><select name="route">${option('', 'Every integration', route)}${manifests.map(({ name }) => option(name, name, route))}</select></label>
    <label><span class="visually-hidden">Outcome</span><select name="outcome">${option('', 'Every outcome', outcome)}${Object.entries(outcomes).map(([value, { title }]) => option(value, title, outcome))}</select></label>
    ${walked > 0 ? html`<label class="check-line"><input type="checkbox" name="walk" value="1" ${walk ? html`checked` : ''}>Show the walk (${walked})</label>` : ''}
  </form>`
}

const shortcuts: readonly (readonly [key: string, effect: string])[] = [
  ['/', 'Find'],
  ['j, ↓', 'The next event'],
  ['k, ↑', 'The event before'],
  ['r', 'Deliver the event again'],
  ['e', 'Edit and replay'],
  ['n', 'A new event'],
  ['Esc', 'Close the details'],
  ['?', 'This list'],
]

function keys(): Html {
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
    <dl class="values">${shortcuts.map(([key, effect]) => html`<dt><kbd>${key}</kbd></dt><dd>${effect}</dd>`)}</dl>
    <form method="dialog"><button class="button primary">Close</button></form></dialog>`
}
