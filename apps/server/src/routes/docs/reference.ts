/** The reference: failures, the routes beside the webhooks, and shared shapes. */
import type { OpenApiDocument, OpenApiOperation, OpenApiResponse } from '@org/core/internal'
import { html, raw } from 'hono/html'
import { fieldTable, HIDDEN, type Html, heading, inline, section, table, typeText } from './parts.ts'
import { fieldsOf, findShape, parameterFields, readSchema, toType } from './schema.ts'

/** Every code of a failure. */
export function problemsSection({ components }: OpenApiDocument): Html {
  const problems = Object.entries(components.responses).flatMap(([name, response]) =>
    (response['x-problems'] ?? []).map((problem) => ({ ...problem, status: name.replace('Problem', '') })),
  )
  const rows = problems
    .toSorted((one, other) => Number(one.status) - Number(other.status))
    .map(({ code, status, title, retryable }) => {
      const mark = retryable ? html` <span class="mark effect">retryable</span>` : ''
      return [html`<code>${code}</code>`, status, html`<p>${title}.${mark}</p>`] as const
    })
  const intro = html`<p>Every failure is a <a href="#shape-Problem">Problem</a> (<code>application/problem+json</code>). Its <code>code</code> is for programs, its <code>detail</code> for people.</p>`
  const codes = table('Every code', ['Code', 'Status', 'Meaning'], rows, HIDDEN)
  return section('failures', 'Failures', intro, html`<div class="wide">${codes}</div>`)
}

/** The `GET` routes. */
export function routesSection({ paths }: OpenApiDocument): Html {
  const routes = Object.entries(paths).flatMap(([path, { get }]) => (get ? [routeEntry(path, get)] : []))
  return section('routes', 'Other routes', '', routes)
}

function routeEntry(path: string, operation: OpenApiOperation): Html {
  const { operationId, summary, description = '', parameters = [], responses } = operation
  const own = parameters.flatMap((parameter) => ('$ref' in parameter ? [] : [parameter]))
  return html`<article class="entry"><div>
${heading(3, operationId, html`<span class="method">GET</span> <code>${path}</code>`)}
<p>${summary}.</p>
${description ? html`<p>${inline(description)}</p>` : ''}
${fieldTable('Parameters', parameterFields(own), 'written')}
<dl class="answers">${Object.entries(responses).map(([status, response]) => html`<dt>${status}</dt><dd>${responseText(response)}</dd>`)}</dl>
</div></article>`
}

function responseText(response: OpenApiResponse | { $ref: string }): unknown {
  if ('$ref' in response) return html`<a href="#failures">Problem</a>`
  const [content] = Object.values(response.content ?? {})
  const type = content ? toType(readSchema(content.schema)) : []
  const hasShape = type.some((part) => typeof part === 'object')
  return html`${inline(response.description)}${hasShape ? html` ${typeText(type)}` : ''}`
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
  const entries = [...shown].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const content = entries.map(([, entry]) => raw(entry))
  return section('shapes', 'Shapes', html`<p>Objects that several entries share.</p>`, content)
}

function shapeEntry(document: OpenApiDocument, name: string): Html {
  const schema = findShape(document, name)
  return html`<article class="entry"><div>
${heading(3, `shape-${name}`, html`<code>${name}</code>`)}
${schema.description ? html`<p>${inline(schema.description)}</p>` : ''}
${fieldTable('Fields', fieldsOf(schema), 'read')}
</div></article>`
}
