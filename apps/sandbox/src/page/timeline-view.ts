/** The timeline: the newest events, and the details of the chosen one. */
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { editor } from './editor-view.ts'
import { exchangeDetail } from './exchange-view.ts'
import { breakButton } from './faults-view.ts'
import { type Group, groupsOf, keyOf } from './groups.ts'
import type { Html, Query, View } from './html.ts'
import { actionButton, address, empty, filterBar, menu, options, PAGE, split, terms } from './html.ts'
import { findEvents, outcomes, readFilter, type TimelineFilter } from './search.ts'
import { timelineRow } from './timeline-rows.ts'

/** The groups that a filter finds; the event whose number the person looks for comes first. */
function rowsOf(context: PageContext, entries: Group, { text }: TimelineFilter): Group[] {
  const whole = groupsOf(context.timeline.list())
  const rows = [...groupsOf(entries)].map(([key, found]) => whole.get(key) ?? found)
  const asked = rows.findIndex((group) => group.some(({ number }) => String(number) === text))
  return asked > 0 ? [...rows.splice(asked, 1), ...rows] : rows
}

const numberOf = ([newest]: Group) => newest?.number ?? 0

/** @returns the address of the page with the chosen event; `undefined` if the address has that page */
export function pageOfChosen(context: PageContext, query: Query): string | undefined {
  const chosen = context.timeline.get(Number(query.event))
  if (!chosen || query.start !== undefined) return undefined
  const filter = readFilter(query)
  const rows = rowsOf(context, findEvents(context, filter), filter)
  const index = rows.findIndex(([newest]) => newest && keyOf(newest) === keyOf(chosen))
  const first = rows[index - (index % PAGE)]
  return index < PAGE || !first
    ? undefined
    : address('/timeline', { ...query, start: String(numberOf(first)) })
}

export function timelineView(context: PageContext, query: Query): View {
  const filter = readFilter(query)
  const rows = rowsOf(context, findEvents(context, filter), filter)
  const {
    event,
    call: _call,
    tab = '',
    edit: _edit,
    new: _new,
    as: _as,
    deployment: _deployment,
    ...rest
  } = query
  const chosen = context.timeline.get(Number(event))
  const isChosen = ([newest]: Group) =>
    newest !== undefined && chosen !== undefined && keyOf(newest) === keyOf(chosen)
  const stop = rows.find(isChosen) ?? rows[0]
  const back = address('/timeline', rest)
  return {
    title: 'Timeline',
    tall: true,
    bar: html`${filters(context, filter)}${toolbar(context, rest)}`,
    body: html`${split('Events', rows, query, {
      row: (group) =>
        html`${timelineRow(context, group, {
          // Another event keeps the open tab.
          url: address('/timeline', { ...rest, tab, event: String(numberOf(group)) }),
          chosen: isChosen(group),
          isStop: group === stop,
        })}`,
      none: rows.length === 0 && noRows(rest),
      anchorOf: (group) => String(numberOf(group)),
      // A group whose first row was delivered again has moved up; the page stays.
      isAt: (group, anchor) => numberOf(group) <= Number(anchor),
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
  return edited || fresh !== undefined ? editor(context, edited, query) : undefined
}

function toolbar(context: PageContext, query: Query): Html {
  const save = (label: string, more: Query, title = '') =>
    html`<a class="button" href="${address('/timeline/session.json', { ...query, ...more })}" download title="${title}">${label}</a>`
  const links = html`<span id="export" data-live>${save('Export session', {})} ${save('Export with secrets', { secrets: '1' }, 'The events as they were sent')}</span>`
  const clear = actionButton(
    'Clear events',
    'clear',
    {},
    { confirm: 'Remove every event from the timeline?' },
  )
  return html`<div class="row">${breakButton(context)}
    ${menu('Session', html`${links}${clear}`)}
    <button type="button" class="button wide" command="show-modal" commandfor="keys" title="Keyboard shortcuts">?</button>
    <a class="button primary" href="/timeline?new=mailer/sendEmail">New event</a></div>`
}

function filters({ manifests, timeline }: PageContext, { text, route, outcome, walk }: TimelineFilter): Html {
  const walked = timeline.list().filter(({ source }) => source === 'walk').length
  const select = (label: string, name: string, choices: [string, string][], chosen: string) =>
    html`<label><span class="visually-hidden">${label}</span><select name="${name}">${options([['', `Every ${label.toLowerCase()}`], ...choices], chosen)}</select></label>`
  const routes = manifests.map(({ name }): [string, string] => [name, name])
  const ends = Object.entries(outcomes).map(([name, { title }]): [string, string] => [name, title])
  const more = html`${select('Integration', 'route', routes, route)} ${select('Outcome', 'outcome', ends, outcome)}
    ${walked > 0 && html`<label class="button"><input type="checkbox" name="walk" value="hide" ${!walk && html`checked`}>Hide the walk</label>`}`
  return filterBar('text', text, 'Find anything, or to:ada status:429 #45', more)
}

/** Says why the list is empty, and how to see something. */
function noRows(query: Query): Html {
  const isFiltered = ['text', 'route', 'outcome', 'walk'].some((name) => query[name])
  if (isFiltered) return empty('No match', html`No event fits. <a href="/timeline">Clear the filter</a>`)
  const none = html`Every event that reaches the host shows up here, from this page or from anywhere else. <a href="/">Start with a mail</a>, or <a href="/timeline?new=mailer/sendEmail">write an event</a>.`
  return empty('No event yet', none)
}

const shortcuts = {
  '/': 'Find',
  'j, ↓': 'The next event',
  'k, ↑': 'The event before',
  r: 'Deliver the event again',
  e: 'Edit and replay',
  n: 'A new event',
  'Ctrl ⏎': 'Send the event that you write',
  Esc: 'Close the details',
  '?': 'This list',
}
const keys = html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
  ${terms(Object.entries(shortcuts).map(([key, effect]) => [html`<kbd>${key}</kbd>`, effect]))}
  <form method="dialog"><button class="button primary">Close</button></form></dialog>`
