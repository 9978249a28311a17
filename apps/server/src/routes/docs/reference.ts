/**
 * The reference: failures, the routes beside the webhooks, and shared shapes.
 *
 * @module
 */
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from '@org/core/internal'
import { html, raw } from 'hono/html'
import { fieldTable, type Html, heading, inline, typeText } from './parts.ts'
import { fieldsOf, findShape, parameterFields, readSchema, toType } from './schema.ts'

/** Every code of a failure. */
export function problemsSection({ components }: OpenApiDocument): Html {
  const rows = Object.entries(components.responses).flatMap(([name, response]) =>
    (response['x-problems'] ?? []).map((problem) => ({ ...problem, status: name.replace('Problem', '') })),
  )
  return html`<section aria-labelledby="failures">
<div class="intro">
${heading(2, 'failures', 'Failures')}
<p>Every failure is a <a href="#shape-Problem">Problem</a> (<code>application/problem+json</code>). Its <code>code</code> is for programs, its <code>detail</code> for people.</p>
</div>
<div class="wide"><table role="table">
<caption class="visually-hidden">Every code</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Code</th><th role="columnheader" scope="col">Status</th><th role="columnheader" scope="col">Meaning</th></tr></thead>
<tbody role="rowgroup">${rows
    .toSorted((one, other) => Number(one.status) - Number(other.status))
    .map(
      ({ code, status, title, retryable }) =>
        html`<tr role="row"><th role="rowheader" scope="row"><code>${code}</code></th><td role="cell" class="type">${status}</td><td role="cell"><p>${title}.${retryable ? html` <span class="mark effect">retryable</span>` : ''}</p></td></tr>`,
    )}</tbody>
</table></div>
</section>`
}

/** The `GET` routes. */
export function routesSection({ paths }: OpenApiDocument): Html {
  const routes = Object.entries(paths).flatMap(([path, { get }]) => (get ? [{ path, get }] : []))
  return html`<section aria-labelledby="routes">
<div class="intro">${heading(2, 'routes', 'Other routes')}</div>
${routes.map(({ path, get }) => routeEntry(path, get))}
</section>`
}

function routeEntry(path: string, operation: OpenApiOperation): Html {
  const { operationId, summary, description = '', parameters = [], responses } = operation
  const own = parameters.flatMap((parameter) => ('$ref' in parameter ? [] : [parameter]))
  return html`<article class="entry"><div>
${heading(3, operationId, html`<span class="method">GET</span> <code>${path}</code>`)}
<p>${summary}.</p>
${description ? html`<p>${inline(description)}</p>` : ''}
${fieldTable('Parameters', parameterFields(own), 'written')}
<dl class="answers">${Object.entries(responses).map(([status, response]) => html`<dt>${status}</dt><dd>${answer(response)}</dd>`)}</dl>
</div></article>`
}

function answer(response: OpenApiResponse | { $ref: string }): unknown {
  if ('$ref' in response) return html`<a href="#failures">Problem</a>`
  const [schema] = Object.values(response.content ?? {}).map((content) => content.schema)
  const type = schema ? toType(readSchema({ ...schema })) : []
  return html`${inline(response.description)}${type.some((part) => 'shape' in part) ? html` ${typeText(type)}` : ''}`
}

/** Every shape that the page refers to, directly or through another shape. */
export async function shapesSection(document: OpenApiDocument, text: string): Promise<Html> {
  const shown = new Map<string, string>()
  const referred = (part: string) => [...part.matchAll(/#shape-(\w+)/g)].map(([, name = '']) => name)
  const open = ['Problem', 'IgnoredResponse', ...referred(text)]
  for (const name of open) {
    if (shown.has(name)) continue
    const entry = `${await shapeEntry(document, name)}`
    shown.set(name, entry)
    open.push(...referred(entry))
  }
  const entries = [...shown]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, entry]) => raw(entry))
  return html`<section aria-labelledby="shapes">
<div class="intro">${heading(2, 'shapes', 'Shapes')}<p>Objects that several entries share.</p></div>
${entries}
</section>`
}

function shapeEntry(document: OpenApiDocument, name: string): Html {
  const schema = findShape(document, name)
  return html`<article class="entry"><div>
${heading(3, `shape-${name}`, html`<code>${name}</code>`)}
${schema.description ? html`<p>${inline(schema.description)}</p>` : ''}
${schema.properties ? fieldTable('Fields', fieldsOf(schema), 'read') : ''}
</div></article>`
}
