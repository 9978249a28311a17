/** The OpenAPI document as one page that loads nothing else. `html` escapes every value. */
import { hash } from 'node:crypto'
import type { OpenApiDocument, OpenApiOperation } from '@org/core/hosting'
import { html, raw } from 'hono/html'
import { createFind, type Find, fieldsOf, nameOf, type Schema, typeOf } from './schema.ts'

/** The examples have this origin, until the script gives them that of the page. */
const ORIGIN = 'http://localhost:3009'

const script = `
for (const code of document.querySelectorAll('pre code'))
  code.textContent = code.textContent.replaceAll('${ORIGIN}', location.origin)
`
const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
body { max-width: 60rem; margin: auto; padding: 1rem; background: Canvas; color: CanvasText; }
a { color: inherit; }
section { margin-top: 3rem; border-top: 1px solid; }
h3 { margin-top: 3rem; }
summary, dt code { font-weight: bold; }
dt { margin-top: 0.5rem; }
pre { overflow: auto; padding: 1rem; border: 1px solid; overflow-wrap: normal; }
`

/** Makes the page, and its content-security-policy. */
export async function createPage(document: OpenApiDocument): Promise<{ text: string; policy: string }> {
  const { title, version, description = '' } = document.info
  const [ofStyle, ofScript] = [style, script].map((text) => `'sha256-${hash('sha256', text, 'base64')}'`)
  const sources = `default-src 'none'; style-src ${ofStyle}; script-src ${ofScript}; img-src data:`
  const policy = `${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  const sections = sectionsOf(document)
  const contents = sections.map(({ id, title, entries }) => {
    const links = entries.map((entry) => link(entry.id, entry.title))
    return html`<li>${link(id, title)} ${listed(links)}</li>`
  })
  const content = sections.map(
    ({ id, title, content, entries }) =>
      html`<section><h2 id="${id}">${link(id, title)}</h2>${content}${entries.map((entry) => entry.content)}</section>`,
  )
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Reference</title>
<link rel="icon" href="data:,">
<style>${raw(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>Version ${version} · <a href="/openapi.json">openapi.json</a> · <a href="/integrations">integrations</a></p>
${description.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}
<nav aria-label="Contents"><ul>${contents}</ul></nav>
${content}
</main>
<script>${raw(script)}</script>
</body>
</html>`
  return { text: `${await page}`, policy }
}

/** The sections of the page: one for each webhook, and three for all. */
function sectionsOf({ paths, components }: OpenApiDocument) {
  const find = createFind(components)
  const webhooks = Object.entries(paths).flatMap(([path, { post }]) => {
    if (!post?.['x-responses']) return []
    const metrics = Object.entries(post['x-metrics'] ?? {})
    const rows = metrics.map(([name, { unit, description }]) => [name, unit, description])
    const content = html`<p><code>POST ${path}</code></p><p>${inline(post.description)}</p>${list('Metrics', rows)}`
    return [{ id: post.tags[0] ?? path, title: post.summary, entries: entriesOf(path, post, find), content }]
  })
  return [
    { id: 'events', title: 'Sending events', entries: [], content: showSending(components, find) },
    ...webhooks,
    { id: 'failures', title: 'Failures', entries: [], content: showFailures(components, find) },
    { id: 'routes', title: 'Other routes', entries: [], content: showRoutes(paths, find) },
  ]
}

/** The events that a webhook acts on, with its functions in the place of FUNCTION_CALL. */
function entriesOf(path: string, { requestBody, tags, ...operation }: OpenApiOperation, find: Find) {
  const { schema, examples = {} } = requestBody?.content['application/json'] ?? {}
  const events = Object.values(find(schema).discriminator?.mapping ?? {}).map(($ref) => ({ $ref }))
  const calls = events.flatMap((event) => find(find(event).properties?.functionCall).oneOf ?? [event])
  return calls.flatMap((reference) => {
    const { properties = {}, description, 'x-effect': effect } = find(reference)
    const { name, arguments: input, deployment } = properties
    const [title = '', ...aliases] = [name?.const ?? name?.enum ?? []].flat().map(String)
    const responses = operation['x-responses']?.[title] ?? []
    const response = responses.find((each) => nameOf(each) !== 'IgnoredResponse')
    if (!response) return []
    const { anyOf: forms = [find(response)], properties: { result } = {} } = find(response)
    const inputs = find(input ?? find(deployment).properties?.inputs)
    const kind = effect === undefined ? '' : mark(effect ? 'once per delivery' : 'reads')
    const also = aliases.length > 0 ? html` Also called ${listed(aliases.map(code))}.` : ''
    const id = `${tags[0]}-${title}`
    const content = html`<h3 id="${id}">${link(id, code(title))}${kind}</h3>
<p>${inline(description)}${also}</p>
${fields(effect === undefined ? 'Inputs' : 'Arguments', inputs, find)}
${result ? fields('Result', find(result), find, true) : forms.map((form, at) => fields(at > 0 ? 'Or' : 'Response', form, find, true))}
${example(id, commandOf(path, examples[title]?.value))}`
    return { id, title, content }
  })
}

/** Sends an example. */
function commandOf(path: string, value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll("'", String.raw`'\''`).replaceAll('\n', '\n  ')
  return `curl ${ORIGIN}${path} \\\n  -H 'content-type: application/json' \\\n  -d '${json}'`
}

/** The fields and headers of an event, and a command that signs one with OpenSSL. */
function showSending({ securitySchemes, parameters }: OpenApiDocument['components'], find: Find) {
  const name = { type: 'string', description: 'What happened: one of the events below.' }
  const { name: _, ...properties } = find({ $ref: 'HealthCheckEvent' }).properties ?? {}
  const command = `secret=\${PLATFORM_WEBHOOK_SECRET:-whsec_c2VjcmV0}
body='{"name":"HEALTH_CHECK"}'
id=evt_$(date +%s) at=$(date +%s)
key=$(printf %s "\${secret#whsec_}" | base64 -d |
  od -An -v -tx1 | tr -d ' \\n')
signature=$(printf %s "$id.$at.$body" |
  openssl dgst -sha256 -mac HMAC \\
    -macopt "hexkey:$key" -binary | base64)
curl ${ORIGIN}/mailer/webhook \\
  -H 'content-type: application/json' \\
  -H "webhook-id: $id" \\
  -H "webhook-timestamp: $at" \\
  -H "webhook-signature: v1,$signature" \\
  -d "$body"`
  return html`${fields('Fields', { properties: { name, ...properties }, required: ['name'] }, find)}
<p>${inline(String(securitySchemes.standardWebhooks?.description))}</p>
${parameterFields(Object.values(parameters), 'Headers', find)}${example('signed', command)}`
}

/** Every code of a failure. */
function showFailures({ responses }: OpenApiDocument['components'], find: Find) {
  const rows = responses.Problem['x-problems'].map(({ code, status, title, retryable }) => {
    return [code, html`${status}${retryable ? mark('retryable') : ''}`, `${title}.`]
  })
  return html`<p>Every failure is <code>application/problem+json</code>. Its <code>code</code> is for programs, its <code>detail</code> for people.</p>
${list('Codes', rows)}${fields('Fields', find({ $ref: 'Problem' }), find, true)}`
}

/** The routes beside the webhooks. */
function showRoutes(paths: OpenApiDocument['paths'], find: Find) {
  return Object.entries(paths).map(([path, { get, post }]) => {
    const route = get ?? post
    if (!route || route['x-responses']) return ''
    const responses = Object.entries(route.responses).map(([status, response]) => {
      return [status, '', '$ref' in response ? link('failures', 'A failure') : inline(response.description)]
    })
    const { 200: success } = route.responses
    const body = success && 'content' in success ? success.content?.['application/json']?.schema : undefined
    const given = route.requestBody?.content['application/json']?.schema
    const title = link(route.operationId, code(`${get ? 'GET' : 'POST'} ${path}`))
    return html`<h3 id="${route.operationId}">${title}</h3><p>${route.summary}. ${inline(route.description)}</p>
${parameterFields(route.parameters ?? [], 'Parameters', find)}${fields('Body', find(given), find)}
${list('Responses', responses)}${fields('Fields', find(body), find, true)}`
  })
}

const code = (text: unknown) => html`<code>${text}</code>`

/** Text with `code`. */
const inline = (text = '') => text.split('`').map((part, at) => (at % 2 === 1 ? code(part) : part))

/** Pieces with commas between them. */
const listed = (parts: readonly unknown[]) => parts.map((part, at) => html`${at > 0 ? ', ' : ''}${part}`)

const link = (id: string, text: unknown) => html`<a href="#${id}">${text}</a>`

const mark = (words: string) => html` <em>${words}</em>`

/** A command that a reader can copy. */
const example = (id: string, command: string) =>
  html`<pre tabindex="0" role="region" aria-label="Command: ${id}">${code(command)}</pre>`

/** Terms, each with a remark and a text. */
function list(title: string, rows: readonly (readonly unknown[])[], isOpen = true) {
  if (rows.length === 0) return ''
  const items = rows.map(([term, remark, text]) => html`<dt>${code(term)} ${remark}</dt><dd>${text}</dd>`)
  return html`<details${isOpen ? ' open' : ''}><summary>${title}</summary><dl>${items}</dl></details>`
}

/** Fields. Required ones have a mark for those who write them, optional ones for those who read them. */
function fields(title: string, schema: Schema, find: Find, isRead = false) {
  const rows = fieldsOf(schema, find).map(({ path, isRequired, field }) => {
    const labelled = field.type === 'string' ? field.oneOf?.map((choice) => choice.const) : undefined
    const values = labelled ?? field.enum ?? field.items?.enum ?? []
    const marks = [
      isRequired && !isRead && 'required',
      !isRequired && isRead && 'may be absent',
      field.sensitive && 'sensitive',
      field.environmentReference && 'or {{env.NAME}}',
      field.immutable && 'never changes',
    ].flatMap((words) => (words ? mark(words) : []))
    const choices = values.length > 0 ? html` One of ${listed(values.map(code))}.` : ''
    const initial = field.default === undefined ? '' : html` Default: ${code(JSON.stringify(field.default))}.`
    return [path, html`${typeOf(field)}${marks}`, html`${inline(field.description)}${choices}${initial}`]
  })
  return list(title, rows, !isRead)
}

function parameterFields(parameters: readonly object[], title: string, find: Find) {
  const properties = parameters.flatMap((each) =>
    'name' in each && 'schema' in each ? [[each.name, { ...Object(each.schema), ...each }]] : [],
  )
  return fields(title, { properties: Object.fromEntries(properties) }, find)
}
