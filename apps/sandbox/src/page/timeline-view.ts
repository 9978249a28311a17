/** The timeline: the newest events, and the details of the chosen one. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { TimelineEntry } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { editor } from './editor-view.ts'
import { exchangeDetail } from './exchange-view.ts'
import { histogram } from './histogram.ts'
import {
  actionButton,
  address,
  empty,
  filterBar,
  type Html,
  menu,
  options,
  PAGE,
  type Query,
  split,
  terms,
  type View,
} from './html.ts'
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
  const anyTime = findEvents(context, { ...filter, from: -Infinity, to: Infinity })
  const entries = anyTime.filter(({ at }) => at >= filter.from && at <= filter.to)
  const rows = rowsOf(entries, filter)
  const deliveries = Map.groupBy(timeline.list(), keyOf)
  const { event, call: _call, tab = '', edit: _edit, new: _new, ...rest } = query
  const chosen = timeline.get(Number(event))
  const row = chosen && rows.find((one) => keyOf(one) === keyOf(chosen))
  const back = address('/timeline', rest)
  return {
    title: 'Timeline',
    actions: toolbar(rest),
    tall: true,
    script: 'timeline',
    body: html`${filters(context, filter)}
    <div id="histogram" data-live>${histogram(anyTime, entries, filter, rest)}</div>
    ${split('Events', rows, query, {
      list: (shown) =>
        html`<ol class="rows">${timelineRows(context, shown, {
          chosen: row?.number,
          // Another event keeps the open tab.
          urlOf: ({ number }) => address('/timeline', { ...rest, tab, event: String(number) }),
          deliveries: (entry) => deliveries.get(keyOf(entry))?.length ?? 1,
        })}</ol>`,
      none: rows.length > 0 ? html`` : noRows(context, filter, rest),
      anchorOf: ({ number }) => String(number),
      // A group whose first row was delivered again has moved up; the page stays.
      isAt: ({ number }, anchor) => number <= Number(anchor),
      detail: detailOf(context, query, back),
      back,
    })}${keys}`,
  }
}

function detailOf(context: PageContext, query: Query, back: string): Html | undefined {
  const { event, edit, new: fresh } = query
  const chosen = context.timeline.get(Number(event))
  const edited = context.timeline.get(Number(edit))
  if (chosen) return exchangeDetail(context, chosen, query)
  if (event !== undefined) {
    const gone = empty(`Event ${event} is not here any more`, html`<a href="${back}">Show the list</a>`)
    return html`<article class="exchange" aria-label="Event ${event}">${gone}</article>`
  }
  return edited || fresh !== undefined ? editor(context, edited, fresh ?? '') : undefined
}

function toolbar(query: Query): Html {
  const save = (label: string, more: Query, title = '') =>
    html`<a class="button quiet" href="${address('/timeline/session.json', { ...query, ...more })}" download title="${title}">${label}</a>`
  return html`<a class="button primary" href="/timeline?new=mailer">New event</a>
    ${menu(
      'Session',
      html`<span id="export" data-live>${save('Export session', {})} ${save('Export with secrets', { secrets: '1' }, 'The events as they were sent')}</span>
      <label class="button quiet">Import a session<input class="visually-hidden" type="file" id="import" accept=".json,application/json"></label>
      ${actionButton('Clear events', 'clear', {}, { look: 'quiet' })}`,
    )}
    <button type="button" class="button quiet" command="show-modal" commandfor="keys" title="Keyboard shortcuts">?</button>`
}

function filters({ manifests, timeline }: PageContext, { text, route, outcome, walk }: TimelineFilter): Html {
  const walked = timeline.list().filter(({ source }) => source === 'walk').length
  const select = (label: string, name: string, choices: [string, string][], chosen: string) =>
    html`<label><span class="visually-hidden">${label}</span><select name="${name}">${options([['', `Every ${label.toLowerCase()}`], ...choices], chosen)}</select></label>`
  const routes = manifests.map(({ name }): [string, string] => [name, name])
  const ends = Object.entries(outcomes).map(([name, { title }]): [string, string] => [name, title])
  const more = html`${select('Integration', 'route', routes, route)} ${select('Outcome', 'outcome', ends, outcome)}
    ${walked > 0 && html`<label class="row"><input type="checkbox" name="walk" value="1" ${walk && html`checked`}>Show the walk (${walked})</label>`}`
  return filterBar('text', text, 'Find anything, or to:ada status:429 #45', more)
}

/** Says why the list is empty, and how to see something. */
function noRows(context: PageContext, filter: TimelineFilter, query: Query): Html {
  const walked = filter.walk ? 0 : findEvents(context, { ...filter, walk: true }).length
  const show = address('/timeline', { ...query, walk: '1' })
  const isFiltered = ['text', 'route', 'outcome', 'walk', 'from', 'to'].some((name) => query[name])
  const none = html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, <a href="/timeline?new=mailer">write an event</a>, or use <code>curl</code>.`
  const noMatch = html`No event fits. <a href="/timeline">Clear the filter</a>`
  return html`${isFiltered ? empty('No match', noMatch) : empty('No event yet', none)}
    ${walked > 0 && html`<p class="empty"><a class="button" href="${show}">Show the ${plural(walked, 'event')} of the walk</a></p>`}`
}

const shortcuts = {
  '/': 'Find',
  'j, ↓': 'The next event',
  'k, ↑': 'The event before',
  r: 'Deliver the event again',
  e: 'Edit and replay',
  n: 'A new event',
  Esc: 'Close the details',
  '?': 'This list',
}
const keys = html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
  ${terms(Object.entries(shortcuts).map(([key, effect]) => [html`<kbd>${key}</kbd>`, effect]))}
  <form method="dialog"><button class="button primary">Close</button></form></dialog>`
