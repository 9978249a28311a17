/** The sections of the page. */
import type { OpenApiDocument } from '@org/core/internal'
import { html } from 'hono/html'
import { type Entry, entriesOf } from './entries.ts'
import {
  article,
  codes,
  curl,
  fields,
  figure,
  inline,
  link,
  list,
  listed,
  mark,
  signedCurl,
} from './parts.ts'
import { createFind, type Find, sampleOf } from './schema.ts'

/** One section, and the entries that the navigation shows under it. */
export interface Section {
  id: string
  title: string
  entries?: readonly { id: string; title: string }[]
  content: unknown
}

/** The sections of the page. An entry that several webhooks have stands in the first. */
export function sectionsOf({ paths, components }: OpenApiDocument): Section[] {
  const find = createFind(components.schemas)
  const webhooks = Object.entries(paths).flatMap(([path, { post }]) =>
    post ? [{ path, post, all: entriesOf(path, post, find) }] : [],
  )
  const handled = webhooks.flatMap(({ all }) => all.filter(({ response }) => response))
  const shown = new Map(handled.toReversed().map((entry) => [entry.key, entry]))
  const isShown = (entry: Entry) => shown.get(entry.key) === entry
  const general = handled.filter((entry) => entry.isGeneral && isShown(entry))

  function show({ id, title, aliases, effect, description, inputs, response, path, example }: Entry) {
    const { anyOf: forms = [find(response)], properties: { result } = {} } = find(response)
    const metrics = webhooks.map(({ path, post }) => {
      const rows = Object.entries(post['x-metrics'] ?? {})
      return list(
        `Metrics of ${path}`,
        rows.map(([name, metric]) => [name, metric.unit, metric.description]),
      )
    })
    const content = html`<p>${inline(description)}${aliases.length > 0 ? html` Also called ${codes(aliases)}.` : ''}</p>
${fields(effect === undefined ? 'Inputs' : 'Arguments', find(inputs), find)}
${title === 'METRIC_UPDATE' ? metrics : ''}
${result ? fields('Result', find(result), find, true) : forms.map((form, at) => fields(at > 0 ? 'Or' : 'Response', form, find, true))}`
    const sample = figure('Response', id, JSON.stringify(sampleOf(response, find), null, 2))
    const kind = effect === undefined ? '' : mark(effect ? 'once per delivery' : 'reads')
    const examples = [figure('curl', id, curl(path, example)), sample]
    return article(id, html`<code>${title}</code>`, kind, content, examples)
  }

  const [first] = webhooks
  const { description } = components.securitySchemes.standardWebhooks ?? {}
  const headers = Object.values(components.parameters).map((each) => [each.name, { ...each.schema, ...each }])
  const { name: _, ...properties } = find({ $ref: 'HealthCheckEvent' }).properties ?? {}
  const events = [...new Set(first?.all.map(({ event }) => event))]
  const name = { type: 'string', description: 'What happened.', enum: events }
  const signed = figure('curl', 'A signed event', signedCurl(first?.path ?? ''))
  const signature = html`${fields('Fields', { properties: { name, ...properties }, required: ['name'] }, find)}
<p>${inline(String(description))}</p>
${fields('Headers', { properties: Object.fromEntries(headers) }, find)}`
  const sending = article('event', 'Event and signature', '', signature, signed)

  const ofWebhooks = webhooks.map(({ path, post, all }) => {
    const entries = all.filter((entry) => !entry.isGeneral && isShown(entry))
    const others = all.filter((entry) => entry.response && !entries.includes(entry))
    const links = others.map(({ key, title }) => link(shown.get(key)?.id ?? '', html`<code>${title}</code>`))
    const ignored = all.filter(({ response }) => !response).map(({ title }) => title)
    const intro = html`<p><span class="mark accent">POST</span> <code>${path}</code></p>
<p>${inline(post.description)}${links.length > 0 ? html` It also has ${listed(links)}.` : ''}</p>
${ignored.length > 0 ? html`<p>It answers ${codes(ignored)} with <code>ignored</code>.</p>` : ''}`
    return { id: post.tags[0] ?? path, title: post.summary, entries, content: [intro, ...entries.map(show)] }
  })

  return [
    { id: 'events', title: 'Sending events', entries: general, content: [sending, ...general.map(show)] },
    ...ofWebhooks,
    { id: 'failures', title: 'Failures', content: failures(components, find) },
    { id: 'routes', title: 'Other routes', content: otherRoutes(paths, find) },
  ]
}

/** Every code of a failure. */
function failures({ responses }: OpenApiDocument['components'], find: Find) {
  const rows = Object.entries(responses).flatMap(([name, { 'x-problems': problems = [] }]) =>
    problems.map(({ code, title, retryable }) => {
      const status = html`${name.replace('Problem', '')}${mark(retryable && 'retryable', 'accent')}`
      return [code, status, `${title}.`]
    }),
  )
  return html`<p>Every failure is <code>application/problem+json</code>. Its <code>code</code> is for programs, its <code>detail</code> for people.</p>
${list('Codes', rows)}${fields('Fields', find({ $ref: 'Problem' }), find, true)}`
}

/** The routes beside the webhooks. */
function otherRoutes(paths: OpenApiDocument['paths'], find: Find) {
  return Object.entries(paths).map(([path, { get }]) => {
    if (!get) return ''
    const own = (get.parameters ?? []).filter((each) => 'schema' in each)
    const parameters = own.map((each) => [each.name, { ...each.schema, ...each }])
    const responses = Object.entries(get.responses).map(([status, response]) => {
      return [status, '', '$ref' in response ? link('failures', 'A failure') : inline(response.description)]
    })
    const { 200: success } = get.responses
    const body = success && 'content' in success ? success.content?.['application/json']?.schema : undefined
    const content = html`<p>${get.summary}. ${inline(get.description)}</p>
${fields('Parameters', { properties: Object.fromEntries(parameters) }, find)}
${list('Responses', responses)}${fields('Fields', find(body), find, true)}`
    return article(get.operationId, html`<code>GET ${path}</code>`, '', content)
  })
}
