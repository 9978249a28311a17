/** The timeline: the newest events, and the details of the chosen one. */
import { html } from 'hono/html'
import { keyOf } from '../world/timeline.ts'
import type { PageContext } from './context.ts'
import { editor } from './editor-view.ts'
import { exchangeDetail } from './exchange-view.ts'
import { breakButton } from './faults.ts'
import type { Html, Query, View } from './html.ts'
import { actionButton, address, empty, filterBar, split, without } from './html.ts'
import { chips, findEvents } from './search.ts'
import { groupsOf, timelineRow } from './timeline-rows.ts'

export function timelineView(context: PageContext, query: Query): View {
  const whole = groupsOf(context.timeline.list())
  const found = [...groupsOf(findEvents(context, query))]
  const rows = found.map(([key, group]) => whole.get(key) ?? group)
  const rest = without(query, 'event', 'call', 'tab', 'edit', 'new', 'as', 'deployment')
  const chosen = context.timeline.get(Number(query.event))
  const chosenKey = chosen && keyOf(chosen)
  const back = address('/timeline', rest)
  const filters = Object.entries(chips).map(
    ([name, [title]]) =>
      html`<label class="button"><input type="checkbox" name="${name}" value="1" ${query[name] && html`checked`}>${title}</label>`,
  )
  return {
    title: 'Timeline',
    bar: html`${filterBar('text', query, 'Find anything, or to:ada status:429 #45', filters)}${toolbar(context, without(rest, 'start'))}`,
    body: split('Events', rows, query, {
      // Another event keeps the open tab.
      row: (group) => timelineRow(context, group, { ...rest, tab: query.tab ?? '' }),
      isChosen: ([newest]) => newest !== undefined && keyOf(newest) === chosenKey,
      none: noRows(query),
      detail: detailOf(context, query, back),
      back,
    }),
  }
}

function detailOf(context: PageContext, query: Query, back: string): Html | undefined {
  const { event, edit, new: fresh } = query
  const chosen = context.timeline.get(Number(event))
  if (chosen) return exchangeDetail(context, chosen, query)
  if (event !== undefined)
    return empty(`Event ${event} is not here any more`, html`<a href="${back}">Show the list</a>`)
  const edited = context.timeline.get(Number(edit))
  return edited || fresh !== undefined ? editor(context, edited, query) : undefined
}

function toolbar(context: PageContext, query: Query): Html {
  const confirm = 'Remove every event from the timeline?'
  return html`<div class="row">${breakButton(context)}
    <span id="export" data-live><a class="button" href="${address('/timeline/session.json', query)}" download>Export session</a></span>
    ${actionButton('Clear', 'clear', {}, { confirm })}
    <a class="button primary" href="/timeline?new=mailer/sendEmail" title="n">New event</a></div>`
}

/** Says why the list is empty, and how to see something. */
function noRows(query: Query): Html {
  if (['text', ...Object.keys(chips)].some((name) => query[name]))
    return empty('No match', html`No event fits. <a href="/timeline">Clear the filter</a>`)
  const none = html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, or <a href="/timeline?new=mailer/sendEmail">write an event</a>.`
  return empty('No event yet', none)
}
