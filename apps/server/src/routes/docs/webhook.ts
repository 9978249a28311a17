/** The webhooks on the page: how to send events, and the events and functions of each route. */
import type { DescribedEvent, OpenApiDocument, OpenApiOperation } from '@org/core/internal'
import { html } from 'hono/html'
import {
  asCurl,
  asTypeScript,
  examples,
  fieldTable,
  type Html,
  heading,
  inline,
  listed,
  ORIGIN,
  section,
  table,
  typeText,
} from './parts.ts'
import type { Entry, Plan, WebhookPlan } from './plan.ts'
import { sampleResponse } from './sample.ts'
import { fieldsOf, findShape, parameterFields, type SchemaNode, shapeOf } from './schema.ts'

/** The section that holds for all webhooks. */
export function sendingSection(document: OpenApiDocument, { general, webhooks }: Plan): Html {
  const { parameters, securitySchemes } = document.components
  const [scheme] = Object.values(securitySchemes)
  const [first] = webhooks
  const content = html`<article class="entry">
<div>
${heading(3, 'signature', 'Signature')}
<p>${inline(String(scheme?.description ?? ''))}</p>
${fieldTable('Headers', parameterFields(Object.values(parameters)), 'written')}
</div>
${examples('A signed event', signedByHand(first?.path ?? ''), signedByLibrary(first?.path ?? ''))}
</article>
${first ? general.map((entry) => entryArticle(document, entry, first.operation)) : ''}`
  return section('events', 'Sending events', '', content)
}

/** Signs an event with a shell and OpenSSL only. */
function signedByHand(path: string): string {
  return `SECRET=whsec_…
body='{"name":"HEALTH_CHECK"}'
id=evt_$(date +%s) at=$(date +%s)
key=$(echo "\${SECRET#whsec_}" | base64 -d |
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
}

/** Signs an event with the library. */
function signedByLibrary(path: string): string {
  return `import { sign } from '@org/core'

const secret = 'whsec_…'
const body = JSON.stringify({ name: 'HEALTH_CHECK' })
const signed = await sign({
  secret,
  id: crypto.randomUUID(),
  body,
})
const response = await fetch('${ORIGIN}${path}', {
  method: 'POST',
  headers: { 'content-type': 'application/json', ...signed },
  body,
})
console.log(response.status, await response.json())`
}

export function webhookSection(document: OpenApiDocument, webhook: WebhookPlan): Html {
  const { name, path, operation, own, elsewhere, ignored } = webhook
  const links = elsewhere.map(({ id, title }) => html`<a href="#${id}"><code>${title}</code></a>`)
  const intro = html`
<p class="endpoint"><span class="method post">POST</span> <code>${path}</code></p>
<p>${inline(operation.description ?? '')}</p>
${links.length > 0 ? html`<p>It also has ${listed(links)}.</p>` : ''}
${ignored.length > 0 ? html`<p class="quiet">Answered with <a href="#shape-IgnoredResponse">ignored</a>: ${codes(ignored)}.</p>` : ''}`
  const entries = own.map((entry) => entryArticle(document, entry, operation))
  return section(name, operation.summary, intro, entries)
}

/** One event or function. */
function entryArticle(document: OpenApiDocument, entry: Entry, operation: OpenApiOperation): Html {
  const { id, title, event, path } = entry
  const { function: called, description } = event
  const mark = called?.effect
    ? html`<span class="mark effect">once per delivery</span>`
    : called && html`<span class="mark">reads</span>`
  return html`<article class="entry">
<div>
${heading(3, id, html`<code>${title}</code>`, mark ?? '')}
<p>${inline(description)}${called && called.aliases.length > 0 ? html` Also called ${codes(called.aliases)}.` : ''}</p>
${called ? functionTables(document, called) : eventTables(document, event, operation)}
</div>
${
  entry.example === undefined
    ? ''
    : examples(
        title,
        asCurl(path, entry.example),
        asTypeScript(path, entry.example),
        sampleResponse(document, entry),
      )
}
</article>`
}

function functionTables(document: OpenApiDocument, called: NonNullable<DescribedEvent['function']>): Html {
  const fields = fieldsOf(findShape(document, shapeOf(called.arguments.$ref)))
  const shape = shapeOf(called.result.$ref)
  const result = fieldsOf(findShape(document, shape))
  // A shape that several functions share is shown once, among the shapes.
  const isOwn = shape.toLowerCase() === `${called.name}Result`.toLowerCase()
  return html`${fields.length === 0 ? html`<p>It takes no arguments.</p>` : fieldTable('Arguments', fields, 'written')}
${isOwn && result.length > 0 ? fieldTable('Result', result, 'read') : html`<p class="result">Result: ${typeText([{ shape }])}</p>`}`
}

function eventTables(document: OpenApiDocument, event: DescribedEvent, operation: OpenApiOperation): Html {
  const answers = event.responses
    .map(({ $ref }) => shapeOf($ref))
    .filter((name) => name !== 'IgnoredResponse')
    .map((name) => findShape(document, name))
  const metrics = Object.entries(operation['x-metrics'] ?? {}).map(
    ([name, { description, unit = '' }]) =>
      [html`<code>${name}</code>`, unit, html`<p>${inline(description)}</p>`] as const,
  )
  return html`${event.event === 'DEPLOYMENT_CREATED' ? fieldTable('Inputs', inputsOf(document, event), 'written') : ''}
${event.event === 'METRIC_UPDATE' ? table('Metrics', ['Name', 'Unit', 'Description'], metrics) : ''}
${answers.map(({ anyOf, ...answer }) =>
  (anyOf ?? [answer]).map((form, index) =>
    fieldTable(index === 0 ? 'Response' : 'Or', fieldsOf(form), 'read'),
  ),
)}`
}

/** The inputs of a deployment on this route. */
function inputsOf(document: OpenApiDocument, { request }: DescribedEvent) {
  const follow = (node?: SchemaNode) => (node?.$ref ? findShape(document, shapeOf(node.$ref)) : node)
  const deployment = follow(findShape(document, shapeOf(request.$ref)).properties?.deployment)
  const inputs = follow(deployment?.properties?.inputs)
  return inputs ? fieldsOf(inputs) : []
}

function codes(names: readonly string[]): unknown[] {
  return listed(names.map((name) => html`<code>${name}</code>`))
}
