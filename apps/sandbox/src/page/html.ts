/**
 * The small pieces of every view. `html` escapes whatever is put into it.
 *
 * @module
 */
import { html } from 'hono/html'

/** A piece of a page. */
export type Html = ReturnType<typeof html>

/** How something is doing: a colour, a shape and a word together, so that none of them has to be seen. */
export type Tone = 'ok' | 'bad' | 'warn' | 'idle' | 'busy'

const shapes: Readonly<Record<Tone, string>> = { ok: '✓', bad: '✕', warn: '!', idle: '–', busy: '…' }

/** A status: shape and word. */
export function status(tone: Tone, word: string | number): Html {
  return html`<span class="status ${tone}"><span class="shape" aria-hidden="true">${shapes[tone]}</span>${word}</span>`
}

/** The tone of a deployment’s status. */
export function toneOf(state: string): Tone {
  const tones: Record<string, Tone> = {
    running: 'ok',
    deploying: 'busy',
    unhealthy: 'warn',
    failed: 'bad',
    stopped: 'idle',
  }
  return tones[state] ?? 'idle'
}

/** A button that does something by itself, as `static/actions.js` reads it. */
export function actionButton(
  label: unknown,
  action: string,
  body: object,
  { look = 'secondary', target = '', title = '' }: { look?: string; target?: string; title?: string } = {},
): Html {
  return html`<button type="button" class="button ${look}" data-action="${action}" data-body="${JSON.stringify(body)}"
    ${target ? html`data-target="${target}"` : ''} ${title ? html`title="${title}"` : ''}>${label}</button>`
}

/** What stands where there is nothing yet: what would be there, and how to get it. */
export function empty(title: string, hint: unknown): Html {
  return html`<div class="empty"><p class="empty-title">${title}</p><p>${hint}</p></div>`
}

/** A time of day on this machine. */
export function clock(at: number | string): Html {
  const date = new Date(at)
  const time = date.toLocaleTimeString('en-GB', { hour12: false })
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}">${time}</time>`
}

/** A duration, with as many digits as matter. */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '…'
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(0)} s`
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds)} ms`
}

/** A number of things. */
export function count(items: number, one: string, many = `${one}s`): string {
  return `${items.toLocaleString('en-US')} ${items === 1 ? one : many}`
}
