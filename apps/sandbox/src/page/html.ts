/** The elements of every view. `html` escapes every inserted value. */
import { html } from 'hono/html'

/** A piece of a page. */
export type Html = ReturnType<typeof html>

/** The query of a page. */
export type Query = Readonly<Record<string, string>>

/** A view, ready to be put into the page. */
export interface View {
  title: string
  /** Beside the title: the search of the view, and its actions. */
  bar?: unknown
  body: unknown
  /** The view fills the window, and scrolls inside. */
  tall?: boolean
}

/** A state, shown as a colour, a shape and a word, so that nobody depends on one of them. */
export type Tone = 'ok' | 'bad' | 'warn' | 'idle' | 'busy'

const shapes: Readonly<Record<Tone, string>> = { ok: '✓', bad: '✕', warn: '!', idle: '–', busy: '…' }
const CURRENT = html`aria-current="true"`

/** A shape and a word in the colour of a tone. */
export function status(tone: Tone, word: string | number): Html {
  return html`<span class="status ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`
}

interface ButtonOptions {
  look?: string
  target?: string | undefined
  title?: string
  /** A question that comes first. The answer is never at the place of the button. */
  confirm?: string
}

/** A button with an action, as `static/actions.js` reads it. */
export function actionButton(
  label: unknown,
  action: string,
  body: object,
  options: ButtonOptions = {},
): Html {
  const { look = '', target = '', title, confirm } = options
  const id = `confirm-${action}-${target.slice(1)}`
  const button = (attributes: unknown) =>
    html`<button type="button" class="button ${look}" data-action="${action}" data-body="${JSON.stringify(body)}" ${attributes}>${label}</button>`
  const place = html`${target && html`data-target="${target}"`} ${title && html`title="${title}"`}`
  if (confirm === undefined) return button(place)
  return html`<button type="button" class="button ${look}" command="show-modal" commandfor="${id}">${label}</button>
    <dialog class="confirm" id="${id}" aria-label="${confirm}"><p>${confirm}</p>
      <div class="row"><button type="button" class="button push" command="close" commandfor="${id}" autofocus>Cancel</button>
      ${button(html`${place} command="close" commandfor="${id}"`)}</div></dialog>`
}

export function terms(entries: readonly (readonly [name: unknown, value: unknown])[]): Html {
  return html`<dl class="values">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

export function hint(text: unknown): Html {
  return html`<p class="hint">${text}</p>`
}

/** Links, of which one is current. */
export function tabs(
  label: string,
  links: readonly (readonly [name: string, url: string, current: boolean])[],
): Html {
  const link = ([name, url, current]: (typeof links)[number]) =>
    html`<a href="${url}" ${current && CURRENT}>${name}</a>`
  return html`<nav class="tabs" aria-label="${label}">${links.map(link)}</nav>`
}

/** A part of a detail: its title, whether there is one, and how to draw it. */
export type Pane = readonly [title: string, shown: boolean, draw: () => unknown]

/** Tabs, and the part of the open one; by default, of the first. */
export function panes(label: string, path: string, query: Query, all: Readonly<Record<string, Pane>>): Html {
  const shown = Object.entries(all).filter(([, [, isShown]]) => isShown)
  const [open, pane] = shown.find(([name]) => name === query.tab) ?? shown[0] ?? []
  const links = shown.map(
    ([name, [title]]) => [title, address(path, { ...query, tab: name }), name === open] as const,
  )
  return html`${tabs(label, links)}<div class="pane">${pane?.[2]()}</div>`
}

/** A control with its label. */
export function field(id: string, label: unknown, control: unknown, more: unknown = ''): Html {
  return html`<div class="field"><label for="${id}">${label}</label>${control}${more}</div>`
}

/** The options of a `select`. */
export function options(choices: readonly (readonly [value: string, label: unknown])[], chosen = ''): Html {
  const option = ([value, label]: (typeof choices)[number]) =>
    html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`
  return html`${choices.map(option)}`
}

/** The search of a list, and other controls that choose from it. */
export function filterBar(name: string, value: string, placeholder: string, more: unknown = ''): Html {
  return html`<form class="filter" role="search">
    <label class="grow"><span class="visually-hidden">Find</span><input type="search" name="${name}" value="${value}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"></label>
    ${more}</form>`
}

/** The items on one page of a list. */
export const PAGE = 100

/** A list, newest first, in pages; beside it the details of the chosen item. */
export function split<Item>(
  name: string,
  items: readonly Item[],
  { start: anchor, ...rest }: Query,
  parts: {
    /** The line of an item. */
    row: (item: Item) => Html
    /** Stands for an empty list. */
    none: unknown
    /** Names the first item of a page, so that new items do not move it. */
    anchorOf: (item: Item) => string
    isAt?: (item: Item, anchor: string) => boolean
    /** The details of the chosen item, if there is one. */
    detail: Html | undefined
    /** The address without a choice. */
    back: string
  },
): Html {
  const { anchorOf, isAt = (item, one) => anchorOf(item) === one } = parts
  const found = items.findIndex((item) => anchor !== undefined && isAt(item, anchor))
  const start = Math.max(0, found)
  const older = items.length - start - PAGE
  const page = (index: number, label: string) => {
    const first = items[index]
    return html`<a href="${address('', { ...rest, start: index > 0 && first ? anchorOf(first) : '' }) || '?'}">${label}</a>`
  }
  return html`<div class="split">
    <section class="list" id="list" aria-label="${name}" data-live tabindex="-1">${items.length > 0 ? html`<ol class="rows">${items.slice(start, start + PAGE).map(parts.row)}</ol>` : parts.none}
      <p class="pager">${start > 0 && page(start - PAGE, 'Newer')} ${older > 0 && page(start + PAGE, `${older} older`)}</p></section>
    <section class="detail" id="detail" aria-label="Details" data-live tabindex="-1">${parts.detail && html`<a class="button back" href="${parts.back}">Back to the list</a>${parts.detail}`}</section>
  </div>`
}

/** A text that scrolls by keyboard, too. */
export function code(label: string, text: string): Html {
  return html`<div class="code"><button type="button" class="button link copy" data-copy>Copy</button><pre tabindex="0" aria-label="${label}"><code>${text}</code></pre></div>`
}

/** Actions that are seldom needed, behind a button. */
export function menu(label: string, items: Html): Html {
  return html`<details class="menu"><summary class="button">${label} ▾</summary><div class="menu-items">${items}</div></details>`
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

/** A duration, with the digits that matter. */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '…'
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(0)} s`
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds)} ms`
}
