/** The small pieces of the page. `html` escapes every value. */
import { html } from 'hono/html'
import { type Field, type SchemaNode, type TypeText, toType } from './schema.ts'

/** A piece of the page. */
export type Html = ReturnType<typeof html>

/** Stands for the origin of this host; each response replaces it with its own. */
export const ORIGIN = 'https://host.invalid'

/** Text with `code`. */
export function inline(text: string): unknown[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

/** Parts with commas between them. */
export function listed(parts: readonly unknown[]): unknown[] {
  return parts.map((part, index) => html`${index === 0 ? '' : ', '}${part}`)
}

/** A heading that links to itself. */
export function heading(level: 2 | 3, id: string, title: unknown, beside: unknown = ''): Html {
  const link = html`<a href="#${id}">${title}</a>`
  return level === 2 ? html`<h2 id="${id}">${link}${beside}</h2>` : html`<h3 id="${id}">${link}${beside}</h3>`
}

/** A section with its heading and an introduction. */
export function section(id: string, title: unknown, intro: unknown, content: unknown): Html {
  return html`<section aria-labelledby="${id}">
<div class="intro">${heading(2, id, title)}${intro}</div>
${content}
</section>`
}

/** The type of a field. Shapes are links. */
export function typeText(type: TypeText): unknown[] {
  return type.map((part) =>
    typeof part === 'string' ? part : html`<a href="#shape-${part.shape}">${part.shape}</a>`,
  )
}

/** A caption that only screen readers show. */
export const HIDDEN = 'visually-hidden'

/** A table with three columns: a name, a short and a long text. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly [unknown, unknown, unknown])[],
  captionClass = '',
): Html {
  // Narrow windows lay the table out as blocks, which would lose its roles.
  return html`<table role="table">
<caption class="${captionClass}">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    ([name, short, long]) =>
      html`<tr role="row"><th role="rowheader" scope="row">${name}</th><td role="cell" class="type">${short}</td><td role="cell">${long}</td></tr>`,
  )}</tbody>
</table>`
}

/**
 * Fields as a table.
 *
 * @param side marks required fields for those who write them, or optional fields for those who read them
 */
export function fieldTable(caption: string, fields: readonly Field[], side: 'written' | 'read'): Html {
  if (fields.length === 0) return html``
  const rows = fields.map(({ within, name, required, description, node }) => {
    const note = side === 'written' ? required && 'required' : !required && 'may be absent'
    const path = html`<code>${within ? html`<span class="within">${within}</span>` : ''}${breakable(name)}</code>`
    return [
      html`${path}${note ? html`<span class="note ${note}">${note}</span>` : ''}`,
      typeText(toType(node)),
      html`${description ? html`<p>${inline(description)}</p>` : ''}${details(node)}`,
    ] as const
  })
  return table(caption, ['Field', 'Type', 'Description'], rows, caption === 'Fields' ? HIDDEN : '')
}

/** The values of an enum. One with labels is written as choices, each a `const` with a title. */
function valuesOf({ enum: values, oneOf }: SchemaNode): unknown[] | undefined {
  return (
    values ?? (oneOf?.every((one) => one.const !== undefined) ? oneOf.map((one) => one.const) : undefined)
  )
}

/** The allowed values of a field, its default and its marks. */
function details(node: SchemaNode): Html {
  const values = valuesOf(node) ?? (node.items && valuesOf(node.items)) ?? []
  const sensitive = node.sensitive && html`<span class="mark secret">sensitive</span>`
  const reference = node.environmentReference && html`<span class="mark">or {{env.NAME}}</span>`
  return html`${values.length > 0 ? choices(values) : ''}
${node.default === undefined ? '' : html`<p class="default">Default <code>${JSON.stringify(node.default)}</code></p>`}
${sensitive || reference ? html`<p class="marks">${sensitive || ''}${reference || ''}</p>` : ''}`
}

const MANY = 8

function choices(values: readonly unknown[]): Html {
  const all = values.map((value, index) => html`${index === 0 ? '' : ' '}<code>${String(value)}</code>`)
  if (values.length <= MANY) return html`<p class="values">${all}</p>`
  return html`<details class="values"><summary>${values.length} values</summary>${all}</details>`
}

/** A name that may wrap between its words. */
function breakable(name: string): unknown[] {
  return name.split(/(?=[A-Z][a-z])|(?<=_)/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))
}

/** The examples beside an entry: a request in a shell and in TypeScript, and its response. */
export function examples(title: string, curl: string, typescript: string, response?: unknown): Html {
  return html`<div class="examples">${example('curl', title, curl)}${example('TypeScript', title, typescript)}
${response === undefined ? '' : example('Response', title, JSON.stringify(response, null, 2))}</div>`
}

function example(kind: 'curl' | 'TypeScript' | 'Response', title: string, text: string): Html {
  return html`<figure class="example ${kind.toLowerCase()}"><figcaption>${kind}</figcaption><pre tabindex="0" role="region" aria-label="${kind}: ${title}"><code>${text}</code></pre></figure>`
}

/** A command that sends an event. */
export function asCurl(path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`).replaceAll('\n', '\n  ')
  return `curl ${ORIGIN}${path} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`
}

/** A program that sends an event. */
export function asTypeScript(path: string, body: unknown): string {
  return `const response = await fetch('${ORIGIN}${path}', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'webhook-id': crypto.randomUUID(),
  },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
})
console.log(response.status, await response.json())`
}
