/** Checks every response of a host against its own OpenAPI document. */
import type { OpenApiDocument } from '@org/core/internal'
import type { DeliverOptions } from '@org/core/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { createMetrics } from '../src/metrics.ts'
import { type StartOptions, startHost } from './hosted.ts'

export interface HostResponse {
  status: number
  headers: Headers
  body: unknown
}

/** Headers that the document need not describe. */
const undescribed =
  /^(content-|etag$|cross-origin-|x-|origin-agent-cluster$|cache-control$|referrer-policy$|vary$)/

/** Starts a host between emulators, and reads its document. */
export async function startContract(options: StartOptions = {}) {
  const { world, host, get, send } = startHost({ createMetrics, ...options })
  const document: OpenApiDocument = await (await get('/openapi.json')).json()
  const validate = createValidator(document)
  // The document lets a response have more fields, for later hosts. This host has no others.
  const schemas = JSON.parse(JSON.stringify(document.components.schemas), (_, value) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
  )
  const validateExactly = createValidator({ ...document, components: { ...document.components, schemas } })
  /** The successful events and functions, such as `/mailer/webhook sendEmail`. */
  const seen = new Set<string>()

  /** Fails if a response is not one of the operation's. */
  function check(path: string, method: 'get' | 'post', { status, headers, body }: HostResponse): void {
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
    const faults = validateExactly(`${place}${toPlace('content', mediaType, 'schema').slice(1)}`, body)
    if (faults.length > 0) fail(faults.join('\n'))
    const places = new Map(Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), $ref]))
    for (const [name, value] of headers) {
      if (undescribed.test(name)) continue
      const header = places.get(name) ?? fail(`the document has no header ${name}`)
      const parsed = /^\d+$/.test(value) ? Number(value) : value
      if (validate(`${header}/schema`, parsed).length > 0) fail(`the header ${name} is “${value}”`)
    }
  }

  /** Fails if a success is not one of the responses to the event. */
  function checkSuccess(path: string, event: unknown, { status, body }: HostResponse): void {
    if (status !== 200) return
    const { name, functionCall } = Object(event)
    const responses = document.paths[path]?.post?.['x-responses'] ?? {}
    const sent = functionCall?.name in responses ? functionCall.name : name
    const faults = (responses[sent] ?? []).map(({ $ref }) => validateExactly($ref, body))
    if (faults.every((each) => each.length > 0)) {
      throw new Error(`${path} ${sent}: ${faults.flat().join('\n')}\n${JSON.stringify(body)}`)
    }
    seen.add(`${path} ${sent}`)
  }

  return {
    world,
    host,
    document,
    validate,
    seen,
    async send(route: string, event: unknown, delivery: DeliverOptions = {}): Promise<HostResponse> {
      const response = await send(route, event, delivery)
      check(`/${route}/webhook`, 'post', response)
      checkSuccess(`/${route}/webhook`, event, response)
      return response
    },
    /** Sends any request to an operation. */
    async ask(method: 'get' | 'post', path: string, request: Request): Promise<HostResponse> {
      const response = await host.fetch(request)
      const { status, headers } = response
      const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '')
      const read = { status, headers, body: await (isJson ? response.json() : response.text()) }
      check(path, method, read)
      return read
    },
  }
}

/** A place in the document. */
function toPlace(...keys: string[]): string {
  return `#/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
}
