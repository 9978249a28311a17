/**
 * Checks every response of a host against its own OpenAPI document.
 */
import type { DescribedEvent, OpenApiDocument } from '@org/core/internal'
import { type DeliverOptions, deliver } from '@org/core/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { createMetrics } from '../src/metrics.ts'
import { createWorld } from './hosted.ts'

/** A response. */
export interface GivenAnswer {
  status: number
  headers: Headers
  body: unknown
}

/** Headers that the document need not describe. */
const unsaid = /^(content-|cross-origin-|x-|origin-agent-cluster$|cache-control$|referrer-policy$|vary$)/

/** A host between emulators, with its document. */
export async function startContract(options: Parameters<ReturnType<typeof createWorld>['start']>[0] = {}) {
  const world = createWorld()
  const host = world.start({ createMetrics, ...options })
  const document: OpenApiDocument = await (
    await host.fetch(new Request('http://host.test/openapi.json'))
  ).json()
  const validate = createValidator(document)
  /** The successful events and functions, as `/mailer/webhook sendEmail`. */
  const seen = new Set<string>()
  let checked = 0

  /** Fails if a response is not one of the operation's. */
  function check(path: string, method: 'get' | 'post', { status, headers, body }: GivenAnswer): void {
    const fail = (why: string): never => {
      throw new Error(`${method} ${path} ${status}: ${why}\n${JSON.stringify(body)?.slice(0, 800)}`)
    }
    const response =
      document.paths[path]?.[method]?.responses[status] ?? fail('the document has no such status')
    const place =
      '$ref' in response ? response.$ref : toPlace('paths', path, method, 'responses', `${status}`)
    const { content = {}, headers: declared = {} } =
      '$ref' in response ? (document.components.responses[place.replace(/.*\//, '')] ?? {}) : response
    const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
    if (!content[mediaType]) fail(`the document has no ${mediaType}`)
    const faults = validate(`${place}${toPlace('content', mediaType, 'schema').slice(1)}`, body)
    if (faults.length > 0) fail(faults.join('\n'))
    const places = new Map(Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), $ref]))
    for (const [name, value] of headers) {
      if (unsaid.test(name)) continue
      const header = places.get(name) ?? fail(`the document has no header ${name}`)
      const given = /^\d+$/.test(value) ? Number(value) : value
      if (validate(`${header}/schema`, given).length > 0) fail(`the header ${name} is “${value}”`)
    }
    checked += 1
  }

  /** Fails if a success is not one of the responses to the event. */
  function checkAnswer(path: string, event: unknown, { status, body }: GivenAnswer): void {
    if (status !== 200) return
    const described = findEvent(document.paths[path]?.post?.['x-events'] ?? [], event)
    if (!described) throw new Error(`${path} took what the document does not know: ${JSON.stringify(event)}`)
    const faults = described.responses.map(({ $ref }) => validate($ref, body))
    if (faults.every((each) => each.length > 0)) {
      throw new Error(`${path} ${described.event}: ${faults.flat().join('\n')}\n${JSON.stringify(body)}`)
    }
    seen.add(`${path} ${described.function ? Object(event).functionCall.name : described.event}`)
  }

  return {
    world,
    host,
    document,
    validate,
    seen,
    checked: () => checked,
    /** Delivers an event to a route, as `mailer`. */
    async send(route: string, event: unknown, delivery: DeliverOptions = {}): Promise<GivenAnswer> {
      const path = `/${route}/webhook`
      const answer = await deliver(host.fetch, event, { url: `http://host.test${path}`, ...delivery })
      check(path, 'post', answer)
      checkAnswer(path, event, answer)
      return answer
    },
    /** Sends any request to an operation, as `get /healthz`. */
    async ask(method: 'get' | 'post', path: string, request: Request): Promise<GivenAnswer> {
      const answer = await readAnswer(await host.fetch(request))
      check(path, method, answer)
      return answer
    },
  }
}

async function readAnswer(response: Response): Promise<GivenAnswer> {
  const text = await response.text()
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** The description of an event, or of the called function. */
function findEvent(events: readonly DescribedEvent[], event: unknown): DescribedEvent | undefined {
  const { name, functionCall } = Object(event)
  return events.find(
    (each) =>
      each.event === name &&
      (!each.function || [each.function.name, ...each.function.aliases].includes(functionCall?.name)),
  )
}

/** A place in the document. */
function toPlace(...keys: string[]): string {
  return `#/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
}
