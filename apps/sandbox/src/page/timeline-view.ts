/**
 * The timeline: a long list, of which only the visible rows are in the page.
 *
 * @module
 */
import { html } from 'hono/html'
import { matchesFilter, outcomes, type TimelineEntry, type TimelineFilter } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exchangeDetail } from './exchange-view.ts'
import { empty, type Html, type Query, type View } from './html.ts'
import { callRows, timelineRows } from './timeline-rows.ts'

/** The page loads so many events together. */
const BLOCK = 12

/** The filter of a query. */
export function readFilter(query: Query): TimelineFilter {
  const { text = '', route = '', outcome = '', walk = '' } = query
  return { text: text.trim().slice(0, 200), route, outcome, walk: walk !== '' }
}

/** The view. */
export function timelineView(context: PageContext, query: Query): View {
  const filter = readFilter(query)
  const entries = context.timeline.list(filter)
  const newest = Math.floor((entries[0]?.number ?? 0) / BLOCK)
  const blocks = [newest, newest - 1, newest - 2].map((block) =>
    entries.filter(({ number }) => Math.floor(number / BLOCK) === block),
  )
  const opened = context.timeline.get(Number(query.event))
  return {
    title: 'Timeline',
    lead: 'Each event with its response, and its calls to the providers and to the platform.',
    actions: html`<a class="button secondary" href="/timeline/session.json" download>Export session</a>
      <a class="button quiet" href="/timeline/session.json?secrets=1" download title="The events as they were sent">Export with secrets</a>`,
    tall: true,
    scripts: ['timeline'],
    body: html`${filterBar(context, filter)}
    <div class="split" id="split">
      <section class="list" id="rows" aria-label="Events" data-block="${BLOCK}" tabindex="-1">
        ${blocks.map((block) => blockOf(context, block))}
        <div id="no-rows" ${entries.length > 0 ? html`hidden` : ''}>${empty('No event yet', html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, or use <code>curl</code>.`)}</div>
      </section>
      <section class="detail" id="detail" aria-label="The chosen event" tabindex="-1">
        <button type="button" class="button quiet" id="close-detail">Back to the list</button>
        <div id="detail-body">${opened ? exchangeDetail(context, opened, Number(query.call ?? Number.NaN)) : html`<div class="detail-empty">${empty('Choose an event', 'Its headers and bodies show up here. The arrow keys move through the list.')}</div>`}</div>
      </section>
    </div>`,
  }
}

function blockOf(context: PageContext, entries: readonly TimelineEntry[]): Html {
  const [first] = entries
  if (!first) return html``
  return html`<ol class="rows block" data-block="${Math.floor(first.number / BLOCK)}">${timelineRows(context, entries)}</ol>`
}

function filterBar(
  { manifests, timeline }: PageContext,
  { text, route, outcome, walk }: TimelineFilter,
): Html {
  const walked = timeline.list().filter(({ source }) => source === 'walk').length
  const option = (value: string, label: string, chosen: string) =>
    html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`
  return html`<form class="filter" id="filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="text" value="${text}" placeholder="Find: sendEmail, dep_…, /email, 429" autocomplete="off" spellcheck="false"></label>
    <label><span class="visually-hidden">Integration</span><select name="route">${option('', 'Every integration', route)}${manifests.map(({ name }) => option(name, name, route))}</select></label>
    <label><span class="visually-hidden">Outcome</span><select name="outcome">${option('', 'Every outcome', outcome)}${Object.entries(outcomes).map(([value, label]) => option(value, label, outcome))}</select></label>
    ${walked > 0 ? html`<label class="check-line"><input type="checkbox" name="walk" value="1" ${walk ? html`checked` : ''}>Show the walk (${walked})</label>` : ''}
    <output id="shown" class="muted"></output>
  </form>`
}

/** The number of each event, and of the rows for its calls. */
export function timelineIndex({ timeline }: PageContext, filter: TimelineFilter): [number, number][] {
  return timeline.list(filter).map((entry) => [entry.number, callRows(entry)])
}

/** The rows of one block. */
export function timelineBlock(context: PageContext, block: number, filter: TimelineFilter): Html {
  const numbers = Array.from({ length: BLOCK }, (_, index) => block * BLOCK + BLOCK - 1 - index)
  const entries = numbers.flatMap((number) => context.timeline.get(number) ?? [])
  return timelineRows(
    context,
    entries.filter((entry) => matchesFilter(entry, filter)),
  )
}
