/**
 * The small pieces of the page. `html` escapes every value.
 *
 * @module
 */
import { html } from 'hono/html'
import type { Field, TypeText } from './schema.ts'

/** A piece of the page. */
export type Html = ReturnType<typeof html>

/** Stands for the origin of this host; each response replaces it with its own. */
export const ORIGIN = 'https://host.invalid'

/** Text with `code`, in paragraphs. */
export function prose(text: string): Html[] {
  return text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)
}

/** Text with `code`. */
export function inline(text: string): unknown[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

/** A heading that links to itself. */
export function heading(level: 2 | 3, id: string, title: unknown, beside: unknown = ''): Html {
  const link = html`<a href="#${id}">${title}</a>`
  return level === 2 ? html`<h2 id="${id}">${link}${beside}</h2>` : html`<h3 id="${id}">${link}${beside}</h3>`
}

/** The type of a field. Shapes are links. */
export function typeText(type: TypeText): unknown[] {
  return type.map((part) =>
    'shape' in part ? html`<a href="#shape-${part.shape}">${part.shape}</a>` : part.word,
  )
}

/**
 * Fields as a table.
 *
 * @param side marks required fields for those who write them, or optional fields for those who read them
 */
export function fieldTable(caption: string, fields: readonly Field[], side: 'written' | 'read'): Html {
  if (fields.length === 0) return html``
  // Narrow windows lay the table out as blocks, which would lose its roles.
  return html`<table role="table">
<caption class="${caption === 'Fields' ? 'visually-hidden' : ''}">${caption}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Field</th><th role="columnheader" scope="col">Type</th><th role="columnheader" scope="col">Description</th></tr></thead>
<tbody role="rowgroup">${fields.map((field) => fieldRow(field, side))}</tbody>
</table>`
}

function fieldRow(field: Field, side: 'written' | 'read'): Html {
  const { within, name, required, type, description, values, sensitive, reference } = field
  const note = side === 'written' ? required && 'required' : !required && 'may be absent'
  return html`<tr role="row">
<th role="rowheader" scope="row"><code>${within ? html`<span class="within">${within}</span>` : ''}${breakable(name)}</code>${note ? html`<span class="note ${note}">${note}</span>` : ''}</th>
<td role="cell" class="type">${typeText(type)}</td>
<td role="cell">${description ? html`<p>${inline(description)}</p>` : ''}${values.length > 0 ? choices(values) : ''}
${field.default === undefined ? '' : html`<p class="default">Default <code>${field.default}</code></p>`}
${sensitive || reference ? html`<p class="marks">${sensitive ? html`<span class="mark secret">sensitive</span>` : ''}${reference ? html`<span class="mark">or {{env.NAME}}</span>` : ''}</p>` : ''}</td>
</tr>`
}

const MANY = 8

function choices(values: readonly string[]): Html {
  const listed = values.map((value, index) => [index === 0 ? '' : ' ', html`<code>${value}</code>`])
  if (values.length <= MANY) return html`<p class="values">${listed}</p>`
  return html`<details class="values"><summary>${values.length} values</summary>${listed}</details>`
}

/** A name that may wrap between its words. */
function breakable(name: string): unknown[] {
  return name.split(/(?=[A-Z][a-z])|(?<=_)/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))
}

/** A command that sends an event. */
export function example(title: string, path: string, body: unknown): Html {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`).replaceAll('\n', '\n  ')
  return command(title, `curl ${ORIGIN}${path} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`)
}

/** A command for a shell. */
export function command(title: string, text: string): Html {
  return html`<figure class="example"><figcaption>Example</figcaption><pre tabindex="0" role="region" aria-label="Example: ${title}"><code>${text}</code></pre></figure>`
}
