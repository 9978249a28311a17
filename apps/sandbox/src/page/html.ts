/** The elements of every view. `html` escapes every inserted value. */
import { html } from 'hono/html'
import { isRecord, parse } from '../world/json.ts'

/** A piece of a page. */
export type Html = ReturnType<typeof html>

/** The query of a page. */
export type Query = Readonly<Record<string, string>>

/** A view, ready to be put into the page. */
export interface View {
  title: string
  /** One sentence below the title. */
  lead?: unknown
  /** Beside the title. */
  actions?: unknown
  body: unknown
  /** The view fills the window, and scrolls inside. */
  tall?: boolean
  scripts?: readonly string[]
}

/** A state, shown as a colour, a shape and a word, so that nobody depends on one of them. */
export type Tone = 'ok' | 'bad' | 'warn' | 'idle' | 'busy'

const shapes: Readonly<Record<Tone, string>> = { ok: '✓', bad: '✕', warn: '!', idle: '–', busy: '…' }

/** A shape and a word in the colour of a tone. */
export function status(tone: Tone, word: string | number): Html {
  return html`<span class="status ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`
}

/** A button with an action, as `static/actions.js` reads it. The question of `confirm` comes first. */
export function actionButton(
  label: unknown,
  action: string,
  body: object,
  {
    look = 'secondary',
    target = '',
    title = '',
    confirm = '',
  }: { look?: string; target?: string; title?: string; confirm?: string } = {},
): Html {
  return html`<button type="button" class="button ${look}" data-action="${action}" data-body="${JSON.stringify(body)}"
    ${target ? html`data-target="${target}"` : ''} ${title ? html`title="${title}"` : ''} ${confirm ? html`data-confirm="${confirm}"` : ''}>${label}</button>`
}

export function terms(entries: readonly (readonly [name: unknown, value: unknown])[]): Html {
  return html`<dl class="values">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

/** Links, of which one is current. */
export function tabs(
  label: string,
  links: readonly (readonly [name: string, url: string, current: boolean])[],
): Html {
  const link = ([name, url, current]: (typeof links)[number]) =>
    html`<a href="${url}" ${current ? html`aria-current="true"` : ''}>${name}</a>`
  return html`<nav class="tabs" aria-label="${label}">${links.map(link)}</nav>`
}

export function table(columns: readonly string[], rows: readonly (readonly unknown[])[]): Html {
  return html`<table><thead><tr>${columns.map((title) => html`<th>${title}</th>`)}</tr></thead>
    <tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`
}

/** The items on one page of a list. */
export const PAGE = 200

/** A list, newest first, in pages; beside it the details of the chosen item. */
export function split<Item>(
  name: string,
  items: readonly Item[],
  query: Query,
  parts: {
    list: (shown: readonly Item[]) => Html
    /** Stands for an empty list. */
    none: Html
    /** Names the first item of a page, so that new items do not move it. */
    anchorOf: (item: Item) => string
    isAt: (item: Item, anchor: string) => boolean
    detail: Html
    /** The way back to the list of a narrow window, if an item is chosen. */
    back: string | undefined
  },
): Html {
  const { start: anchor, ...rest } = query
  const found = items.findIndex((item) => anchor !== undefined && parts.isAt(item, anchor))
  const start = Math.max(0, found)
  const older = items.length - start - PAGE
  const page = (index: number, label: string) => {
    const first = items[index]
    return html`<a href="${address('', { ...rest, start: index > 0 && first ? parts.anchorOf(first) : '' }) || '?'}">${label}</a>`
  }
  return html`<div class="split">
    <section class="list" id="list" aria-label="${name}" data-live tabindex="-1">${items.length > 0 ? parts.list(items.slice(start, start + PAGE)) : parts.none}
      <p class="pager">${start > 0 ? page(start - PAGE, 'Newer') : ''} ${older > 0 ? page(start + PAGE, `${older} older`) : ''}</p></section>
    <section class="detail" id="detail" aria-label="Details" data-live tabindex="-1">${parts.back === undefined ? '' : html`<a class="button quiet back" href="${parts.back}">Back to the list</a>`}
      ${parts.detail}</section>
  </div>`
}

/** A text that scrolls by keyboard, too. */
export function code(label: string, text: string): Html {
  return html`<div class="code"><button type="button" class="button link copy" data-copy>Copy</button><pre tabindex="0" aria-label="${label}"><code>${inColours(text)}</code></pre></div>`
}

const LONGEST_COLOURED = 64 * 1024

/** JSON, with a colour for each kind of value; any other text as it is. */
function inColours(text: string): unknown {
  const data = text.length > LONGEST_COLOURED ? text : parse(text)
  return typeof data === 'object' ? drawJson(data, '\n') : text
}

/** @param line begins a line at the indent of the value */
function drawJson(value: unknown, line: string): unknown {
  const inner = `${line}  `
  const join = (items: unknown[], [open, close]: string) =>
    items.length === 0
      ? [open, close]
      : [open, items.flatMap((item, index) => [index > 0 ? ',' : '', inner, item]), line, close]
  if (Array.isArray(value))
    return join(
      value.map((item) => drawJson(item, inner)),
      '[]',
    )
  if (isRecord(value)) {
    const field = ([name, item]: [string, unknown]) =>
      html`<span class="json-name">${JSON.stringify(name)}</span>: ${drawJson(item, inner)}`
    return join(Object.entries(value).map(field), '{}')
  }
  return html`<span class="json-${typeof value === 'string' ? 'text' : 'value'}">${JSON.stringify(value)}</span>`
}

/** Actions that are seldom needed, behind a button. */
export function menu(label: string, items: Html): Html {
  return html`<details class="menu"><summary class="button secondary">${label}</summary><div class="menu-items">${items}</div></details>`
}

/** Stands for an empty list, and says how to fill it. */
export function empty(title: string, hint: unknown): Html {
  return html`<div class="empty"><p><strong>${title}</strong></p><p>${hint}</p></div>`
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
