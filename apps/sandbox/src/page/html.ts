/** The elements of every view. `html` escapes every inserted value. */
import { html } from 'hono/html'

/** A piece of a page. */
export type Html = ReturnType<typeof html>

/** The query of a page. */
export type Query = Readonly<Record<string, string>>

/** A view, ready to be put into the page. */
export interface View {
  title: string
  /** The search of a list, and its actions. A list fills the window, and scrolls inside. */
  bar?: unknown
  body: unknown
}

/** A state, shown as a colour, a shape and a word, so that nobody depends on one of them. */
export type Tone = 'ok' | 'bad' | 'warn' | 'idle' | 'busy'

const shapes: Readonly<Record<Tone, string>> = { ok: '✓', bad: '✕', warn: '!', idle: '–', busy: '…' }

/** A shape and a word in the colour of a tone. */
export function status(tone: Tone, word: string | number): Html {
  return html`<span class="status ${tone}"><span aria-hidden="true">${shapes[tone]}</span> ${word}</span>`
}

/** The attribute of the link to what is in sight. */
export const current = (isCurrent: boolean) => isCurrent && html`aria-current="true"`

/**
 * A button with an action, as `static/actions.js` reads it.
 * @param more.confirm a question that comes first; the answer is never at the place of the button
 */
export function actionButton(
  label: unknown,
  action: string,
  body: object,
  more: Partial<Record<'look' | 'target' | 'title' | 'confirm', string>> = {},
): Html {
  const { look = '', target, title, confirm } = more
  const button = (attributes: unknown) =>
    html`<button type="button" class="button ${look}" data-action="${action}" data-body="${JSON.stringify(body)}" ${target && html`data-target="${target}"`} ${title && html`title="${title}"`} ${attributes}>${label}</button>`
  if (confirm === undefined) return button('')
  const id = `confirm-${action}`
  return html`<button type="button" class="button ${look}" command="show-modal" commandfor="${id}">${label}</button>
    <dialog class="confirm" id="${id}" aria-label="${confirm}"><p>${confirm}</p>
      <div class="row"><button type="button" class="button push" command="close" commandfor="${id}" autofocus>Cancel</button>
      ${button(html`command="close" commandfor="${id}"`)}</div></dialog>`
}

/** Names and values. */
export function terms(entries: readonly (readonly [name: unknown, value: unknown])[]): Html {
  return html`<dl class="values">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

export function hint(text: unknown): Html {
  return html`<p class="hint">${text}</p>`
}

/** Links, of which one is current. */
export function tabs(label: string, links: readonly (readonly [string, string, boolean])[]): Html {
  return html`<nav class="tabs" aria-label="${label}">${links.map(([name, url, isCurrent]) => html`<a href="${url}" ${current(isCurrent)}>${name}</a>`)}</nav>`
}

/** A part of a detail: its title, and how to draw it. */
type Pane = readonly [title: string, draw: () => unknown]

/** Tabs, and the part of the open one; by default, of the first. */
export function panes(
  label: string,
  path: string,
  query: Query,
  all: Readonly<Record<string, Pane | false | undefined>>,
): Html {
  const shown = Object.entries(all).flatMap(([name, pane]) => (pane ? [[name, ...pane] as const] : []))
  const open = shown.find(([name]) => name === query.tab) ?? shown[0]
  const links = shown.map(
    (pane) => [pane[1], address(path, { ...query, tab: pane[0] }), pane === open] as const,
  )
  return html`${tabs(label, links)}<div class="pane">${open?.[2]()}</div>`
}

/** A control with its label. */
export function field(id: string, label: unknown, control: unknown, more: unknown = ''): Html {
  return html`<div class="field"><label for="${id}">${label}</label>${control}${more}</div>`
}

type Choice = readonly [value: string, label: unknown]

/** A `select`. */
export function select(attributes: unknown, choices: readonly Choice[], chosen = ''): Html {
  return html`<select ${attributes}>${options(choices, chosen)}</select>`
}

/** The options of a `select`. */
export function options(choices: readonly Choice[], chosen = ''): Html[] {
  return choices.map(
    ([value, label]) =>
      html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`,
  )
}

/** The search of a list, and other controls that choose from it. */
export function filterBar(name: string, query: Query, placeholder: string, more: unknown = ''): Html {
  return html`<form class="filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="${name}" value="${query[name] ?? ''}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"></label>
    ${more}</form>`
}

/** The line of an item in a list. */
export interface Line {
  id: string
  url: string
  look: string
  /** The columns, by the names of their style. */
  cells: Readonly<Record<string, unknown>>
}

/** The items on one page of a list. */
const PAGE = 100

/**
 * A list, newest first, in pages; beside it the details of the chosen item. The parameter `start` is the rank of the
 * first item.
 */
export function split<Item>(
  name: string,
  items: readonly Item[],
  query: Query,
  parts: {
    row: (item: Item) => Line
    isChosen: (item: Item) => boolean
    /** Stands for an empty list. */
    none: unknown
    /** The details of the chosen item, if there is one. */
    detail: unknown
    /** The address without a choice. */
    back: string
  },
): Html {
  const chosen = items.findIndex(parts.isChosen)
  // Counted from the oldest item, a page stays as it is when new items arrive.
  const rank =
    Number(query.start) || (chosen < PAGE ? items.length : Math.ceil((items.length - chosen) / PAGE) * PAGE)
  const start = Math.max(0, items.length - rank)
  const older = items.length - start - PAGE
  const page = (index: number, label: string) =>
    html`<a href="${address('', { ...query, start: index > 0 ? String(items.length - index) : '' }) || '?'}">${label}</a>`
  const shown = items.slice(start, start + PAGE)
  const stop = shown.find(parts.isChosen) ?? shown[0]
  const row = (item: Item) => {
    const { id, url, look, cells } = parts.row(item)
    const columns = Object.entries(cells).map(([name, cell]) => html`<span class="${name}">${cell}</span>`)
    // The tab key reaches one line; the arrow keys reach the others.
    return html`<li class="entry" id="${id}"><a class="line ${look}" href="${url}" ${current(parts.isChosen(item))} ${item !== stop && html`tabindex="-1"`}>${columns}</a></li>`
  }
  return html`<div class="split">
    <section class="list" id="list" aria-label="${name}" data-live tabindex="-1">${items.length > 0 ? html`<ol class="rows">${shown.map(row)}</ol>` : parts.none}
      <p class="pager">${start > 0 && page(start - PAGE, 'Newer')} ${older > 0 && page(start + PAGE, `${older} older`)}</p></section>
    <section class="detail" id="detail" aria-label="Details" data-live tabindex="-1">${parts.detail && html`<a class="small back" href="${parts.back}">← Back to the list</a>${parts.detail}`}</section>
  </div>`
}

/** A text that scrolls by keyboard, too. */
export function code(label: string, text: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><button type="button" class="button link copy" data-copy>Copy</button><code>${text}</code></pre>`
}

/** Stands for an empty list, and says how to fill it. */
export function empty(title: string, text: unknown): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p><p>${text}</p></div>`
}

/** A local time of day. */
export function clock(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}" title="${iso}">${timeOfDay(at)}</time>`
}

/** A local time of day, as text. */
export function timeOfDay(at: number | string): string {
  return new Date(at).toLocaleTimeString('en-GB')
}

/** The address of a view with these parameters. */
export function address(path: string, query: Query): string {
  const present = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return present.size > 0 ? `${path}?${present}` : path
}

/** The query without these parameters. */
export function without(query: Query, ...names: string[]): Query {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !names.includes(name)))
}

/** A duration, with the digits that matter. */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '…'
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(0)} s`
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds)} ms`
}
