/** The small pieces of the page. `html` escapes every value. */
import { html } from 'hono/html'
import { type Find, fieldsOf, type Schema, typeOf } from './schema.ts'
import { ORIGIN } from './script.ts'

/** Text with `code`. */
export const inline = (text = '') =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))

/** Pieces with commas between them. */
export const listed = (parts: readonly unknown[]) =>
  parts.map((part, at) => html`${at > 0 ? ', ' : ''}${part}`)

/** Values as `code`, with commas between them. */
export const codes = (values: readonly unknown[]) =>
  listed(values.map((value) => html`<code>${value}</code>`))

/** A link to a place of the page. */
export const link = (id: string, text: unknown) => html`<a href="#${id}">${text}</a>`

/** A short remark. */
export const mark = (words: unknown, kind = '') =>
  words ? html` <span class="mark ${kind}">${words}</span>` : ''

/** An entry of a section, with its examples beside it. */
export const article = (
  id: string,
  title: unknown,
  mark: unknown,
  content: unknown,
  examples: unknown = '',
) =>
  html`<article><div><h3 id="${id}">${link(id, title)}${mark}</h3>${content}</div><div class="examples">${examples}</div></article>`

/** Terms, each with a remark and a text. A long list is closed if it is only for readers of responses. */
export function list(title: string, rows: readonly (readonly unknown[])[], isOpen = true) {
  const items = rows.map(
    ([term, remark, text]) => html`<div><dt><code>${term}</code> ${remark}</dt><dd>${text}</dd></div>`,
  )
  return rows.length > 0
    ? html`<details${isOpen ? ' open' : ''}><summary>${title}</summary><dl>${items}</dl></details>`
    : ''
}

/** Fields. Required ones have a mark for those who write them, optional ones for those who read them. */
export function fields(title: string, schema: Schema, find: Find, isRead = false) {
  const rows = fieldsOf(schema, find).map(({ path, isRequired, field }) => {
    const labelled = field.type === 'string' ? field.oneOf?.map((choice) => choice.const) : undefined
    const values = labelled ?? field.enum ?? field.items?.enum ?? []
    const remark = html`${typeOf(field)}${mark(!isRead && isRequired && 'required', 'accent')}${mark(isRead && !isRequired && 'may be absent')}${mark(field.sensitive && 'sensitive', 'warn')}${mark(field.environmentReference && 'or {{env.NAME}}')}${mark(field.immutable && 'never changes')}`
    const limits = values.length > 0 ? html` One of ${codes(values)}.` : ''
    const initial =
      field.default === undefined ? '' : html` Default: <code>${JSON.stringify(field.default)}</code>.`
    const name = path.split(/(?=[A-Z][a-z])|(?<=[_.])/).map((part) => html`<wbr>${part}`)
    return [name, remark, html`${inline(field.description)}${limits}${initial}`]
  })
  return list(title, rows, !isRead || rows.length < 12)
}

/** An example that a reader can copy. */
export const figure = (kind: string, title: string, text: string) =>
  html`<figure><figcaption>${kind}</figcaption><pre tabindex="0" role="region" aria-label="${kind}: ${title}"><code>${text}</code></pre></figure>`

/** A command that sends an event. */
export function curl(path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`).replaceAll('\n', '\n  ')
  return `curl ${ORIGIN}${path} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`
}

/** A command that signs an event with OpenSSL, and sends it. */
export const signedCurl = (path: string) => `secret=\${PLATFORM_WEBHOOK_SECRET:-whsec_c2VjcmV0}
body='{"name":"HEALTH_CHECK"}'
id=evt_$(date +%s) at=$(date +%s)
key=$(printf %s "\${secret#whsec_}" | base64 -d |
  od -An -v -tx1 | tr -d ' \\n')
signature=$(printf %s "$id.$at.$body" |
  openssl dgst -sha256 -mac HMAC \\
    -macopt "hexkey:$key" -binary | base64)
curl ${ORIGIN}${path} \\
  -H 'content-type: application/json' \\
  -H "webhook-id: $id" \\
  -H "webhook-timestamp: $at" \\
  -H "webhook-signature: v1,$signature" \\
  -d "$body"`
