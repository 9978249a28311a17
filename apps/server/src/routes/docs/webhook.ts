/**
 * One webhook on the page: its events and functions, with their fields and responses.
 *
 * @module
 */
import type { DescribedEvent, OpenApiDocument, OpenApiOperation } from '@org/core/internal'
import { html } from 'hono/html'
import { example, fieldTable, type Html, heading, inline, typeText } from './parts.ts'
import type { Entry, WebhookPlan } from './plan.ts'
import { fieldsOf, findShape, readSchema, type SchemaNode, shapeOf } from './schema.ts'

/** The section of a webhook. */
export function webhookSection(document: OpenApiDocument, webhook: WebhookPlan): Html {
  const { name, path, operation, own, elsewhere, ignored } = webhook
  const links = elsewhere.map(({ id, title }) => html`<a href="#${id}"><code>${title}</code></a>`)
  return html`<section aria-labelledby="${name}">
<div class="intro">
${heading(2, name, operation.summary)}
<p class="endpoint"><span class="method post">POST</span> <code>${path}</code></p>
<p>${inline(operation.description ?? '')}</p>
${links.length > 0 ? html`<p>It also has ${joined(links)}.</p>` : ''}
${ignored.length > 0 ? html`<p class="quiet">Answered with <a href="#shape-IgnoredResponse">ignored</a>: ${codes(ignored)}.</p>` : ''}
</div>
${own.map((entry) => entryArticle(document, entry, operation))}
</section>`
}

/** One event or function. */
export function entryArticle(document: OpenApiDocument, entry: Entry, operation: OpenApiOperation): Html {
  const { id, title, event, path } = entry
  const { function: called, description } = event
  const mark =
    called &&
    (called.effect
      ? html`<span class="mark effect">once per delivery</span>`
      : html`<span class="mark">reads</span>`)
  return html`<article class="entry">
<div>
${heading(3, id, html`<code>${title}</code>`, mark ?? '')}
<p>${inline(description)}${called && called.aliases.length > 0 ? html` Also called ${codes(called.aliases)}.` : ''}</p>
${called ? functionTables(document, called) : eventTables(document, event, operation)}
</div>
${entry.example === undefined ? '' : example(title, path, entry.example)}
</article>`
}

function functionTables(document: OpenApiDocument, called: NonNullable<DescribedEvent['function']>): Html {
  const given = fieldsOf(findShape(document, shapeOf(called.arguments)))
  const result = shapeOf(called.result)
  const schema = findShape(document, result)
  // A shape that several functions share is shown once, among the shapes.
  const own = result.toLowerCase() === `${called.name}Result`.toLowerCase()
  return html`${given.length === 0 ? html`<p>It takes no arguments.</p>` : fieldTable('Arguments', given, 'written')}
${own && schema.properties ? fieldTable('Result', fieldsOf(schema), 'read') : html`<p class="result">Result: ${typeText([{ shape: result }])}</p>`}`
}

function eventTables(document: OpenApiDocument, event: DescribedEvent, operation: OpenApiOperation): Html {
  const responses = event.responses.map(shapeOf).filter((name) => name !== 'IgnoredResponse')
  const inputs = event.event === 'DEPLOYMENT_CREATED' ? inputsOf(document, event) : undefined
  return html`${inputs ? fieldTable('Inputs', fieldsOf(inputs), 'written') : ''}
${event.event === 'METRIC_UPDATE' ? metricTable(operation['x-metrics'] ?? {}) : ''}
${responses.map((name) => responseTables(findShape(document, name)))}`
}

/** The inputs of a deployment on this route. */
function inputsOf(document: OpenApiDocument, { request }: DescribedEvent): SchemaNode | undefined {
  const follow = (node: SchemaNode) =>
    node.$ref === undefined ? node : findShape(document, shapeOf({ $ref: node.$ref }))
  const deployment = findShape(document, shapeOf(request)).properties?.deployment
  const inputs = deployment && follow(readSchema(deployment)).properties?.inputs
  return inputs && follow(readSchema(inputs))
}

function responseTables(response: SchemaNode): Html {
  const forms = response.anyOf?.map(readSchema) ?? [response]
  return html`${forms.map((form, index) =>
    fieldTable(index === 0 ? 'Response' : 'Or', fieldsOf(form), 'read'),
  )}`
}

function metricTable(metrics: NonNullable<OpenApiOperation['x-metrics']>): Html {
  return html`<table role="table">
<caption>Metrics</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Name</th><th role="columnheader" scope="col">Unit</th><th role="columnheader" scope="col">Description</th></tr></thead>
<tbody role="rowgroup">${Object.entries(metrics).map(
    ([name, { description, unit = '' }]) =>
      html`<tr role="row"><th role="rowheader" scope="row"><code>${name}</code></th><td role="cell" class="type">${unit}</td><td role="cell"><p>${inline(description)}</p></td></tr>`,
  )}</tbody>
</table>`
}

function codes(names: readonly string[]): unknown[] {
  return joined(names.map((name) => html`<code>${name}</code>`))
}

function joined(parts: readonly unknown[]): unknown[] {
  return parts.map((part, index) => html`${index === 0 ? '' : ', '}${part}`)
}
