/** The timeline: the newest events, and the details of the chosen one. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import { outcomes, type TimelineFilter } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { exchangeDetail } from './exchange-view.ts'
import { empty, type Html, type Query, split, type View } from './html.ts'
import { timelineRows } from './timeline-rows.ts'

export function readFilter({ text = '', route = '', outcome = '', walk = '' }: Query): TimelineFilter {
  return { text: text.trim().slice(0, 200), route, outcome, walk: walk !== '' }
}

export function timelineView(context: PageContext, query: Query): View {
  const filter = readFilter(query)
  const entries = context.timeline.list(filter)
  const { event, call, ...rest } = query
  const chosen = context.timeline.get(Number(event))
  const none = html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, or use <code>curl</code>.`
  return {
    title: 'Timeline',
    lead: 'Each event with its response, and its calls to the providers and to the platform.',
    actions: html`<a class="button secondary" href="/timeline/session.json" download>Export session</a>
      <a class="button quiet" href="/timeline/session.json?secrets=1" download title="The events as they were sent">Export with secrets</a>`,
    tall: true,
    scripts: ['timeline'],
    body: html`${filterBar(context, filter, entries.length)}${split('Events', entries, query, {
      list: (shown) => html`<ol class="rows">${timelineRows(context, shown, chosen?.number)}</ol>`,
      none: empty('No event yet', none),
      back: chosen && `/timeline?${new URLSearchParams(rest)}#event-${event}`,
      detail: chosen
        ? exchangeDetail(context, chosen, Number(call ?? Number.NaN))
        : empty(
            'Choose an event',
            'Its headers and bodies show up here. The arrow keys move through the list.',
          ),
    })}`,
  }
}

function filterBar(
  { manifests, timeline }: PageContext,
  { text, route, outcome, walk }: TimelineFilter,
  found: number,
): Html {
  const walked = timeline.list().filter(({ source }) => source === 'walk').length
  const option = (value: string, label: string, chosen: string) =>
    html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`
  return html`<form class="filter" id="filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="text" value="${text}" placeholder="Find: sendEmail, dep_…, /email, 429" autocomplete="off" spellcheck="false"></label>
    <label><span class="visually-hidden">Integration</span><select name="route">${option('', 'Every integration', route)}${manifests.map(({ name }) => option(name, name, route))}</select></label>
    <label><span class="visually-hidden">Outcome</span><select name="outcome">${option('', 'Every outcome', outcome)}${Object.entries(outcomes).map(([value, { title }]) => option(value, title, outcome))}</select></label>
    ${walked > 0 ? html`<label class="check-line"><input type="checkbox" name="walk" value="1" ${walk ? html`checked` : ''}>Show the walk (${walked})</label>` : ''}
    <output id="shown" class="muted" data-live>${plural(found, 'event')}</output>
  </form>`
}
