/**
 * The mail provider as an emulator. It is stricter than the real one about names and types of fields, so that
 * tests see a client’s mistake.
 *
 * @module
 */
import { createEmulator, createFaults, type EmulatedRequest, keepNewest } from '@org/core/testing'
import { limits } from './limits.ts'
import { type AcceptedMessage, acceptMessage } from './messages.ts'
import { invalidField, Refusal, unexplained } from './refusals.ts'
import { defaultSettings, type MailProviderSettings, type ServerInfo } from './settings.ts'
import { readStats } from './stats.ts'

/** A mail provider that lives in memory. */
export type MailProvider = ReturnType<typeof createMailProvider>

const MESSAGES_KEPT = 100_000

/**
 * Makes a mail provider.
 *
 * @example
 * ```ts
 * const provider = createMailProvider({ senders: ['example.com'] })
 * provider.inactive.add('gone@example.org')
 * provider.faults.add({ path: '/email', cut: 'after' })
 * const client = createMailer({ apiToken: 'server-token', fetch: provider.fetch })
 * ```
 */
export function createMailProvider(overrides: Partial<MailProviderSettings> = {}) {
  const first: MailProviderSettings = { ...defaultSettings, ...overrides }
  const settings = { ...first }
  const messages: AcceptedMessage[] = []
  const inactive = new Set<string>()
  const faults = createFaults()

  function receive(value: unknown) {
    const message = acceptMessage(value, settings, inactive)
    keepNewest(messages, [message], MESSAGES_KEPT)
    const left = message.inactive.join(', ')
    return {
      To: message.raw.To ?? '',
      SubmittedAt: message.submittedAt,
      MessageID: message.messageId,
      ErrorCode: 0,
      Message: left ? `Message OK, but will not deliver to these inactive addresses: ${left}` : 'OK',
    }
  }

  function receiveInBatch(value: unknown) {
    try {
      return receive(value)
    } catch (error) {
      if (error instanceof Refusal) return error.body
      throw error
    }
  }

  const routes = new Map<string, { method: string; respond(request: EmulatedRequest): object }>([
    ['/email', { method: 'POST', respond: (request) => receive(parseJson(request, limits.messageBytes)) }],
    ['/email/batch', { method: 'POST', respond: (request) => parseBatch(request).map(receiveInBatch) }],
    ['/server', { method: 'GET', respond: () => describeServer(settings) }],
    [
      '/stats/outbound',
      { method: 'GET', respond: ({ url }) => readStats(url.searchParams, messages, settings) },
    ],
  ])

  function handle(request: EmulatedRequest): Response {
    const route = routes.get(request.url.pathname)
    if (!route) return new Response(null, { status: 404 })
    // The real provider checks the method before the token.
    if (route.method !== request.method)
      return new Response(null, { status: 405, headers: { allow: route.method } })
    try {
      checkHeaders(request, settings)
      return Response.json(route.respond(request))
    } catch (error) {
      if (error instanceof Refusal) return Response.json(error.body, { status: error.status })
      throw error
    }
  }

  const { fetch, calls } = createEmulator({ faults, handle, refusal: unexplained, details: () => ({}) })
  return {
    /** Works as a `fetch` in process, and as a handler for {@link serve}. */
    fetch,
    faults,
    /** The newest 100,000 accepted messages, newest last. */
    messages,
    /** The newest 10,000 calls, including those that met a fault, newest last. */
    calls,
    /** Addresses that get no mail, in lower case. */
    inactive,
    /** How the provider behaves; may be changed at any time. */
    settings,
    /** Forgets messages, calls, faults and inactive addresses, and restores the first settings. */
    reset(): void {
      messages.length = 0
      calls.length = 0
      inactive.clear()
      faults.clear()
      Object.assign(settings, first)
    },
  }
}

function describeServer({ apiTokens, server }: MailProviderSettings): ServerInfo {
  return { ID: 1, Name: 'Emulated server', ApiTokens: apiTokens, DeliveryType: 'Sandbox', ...server }
}

function checkHeaders({ method, headers }: EmulatedRequest, { apiTokens }: MailProviderSettings): void {
  // The neutral name of the header, and the provider’s own: each that is present must hold a known token.
  const tokens = ['x-mailer-server-token', 'x-postmark-server-token'].flatMap(
    (name) => headers.get(name) ?? [],
  )
  if (tokens.length === 0 || !tokens.every((token) => apiTokens.includes(token))) {
    throw new Refusal('badToken', 'Request does not contain a valid Server token.', 401)
  }
  const isJson = (name: string) => /\bapplication\/json\b/i.test(headers.get(name) ?? '')
  if (!isJson('accept') || (method === 'POST' && !isJson('content-type'))) {
    throw new Refusal('jsonRequired', 'Content-Type and Accept headers must be set to application/json.', 415)
  }
}

function parseJson({ bytes, text }: EmulatedRequest, maxBytes: number): unknown {
  if (bytes > maxBytes) throw new Refusal('invalidRequest', 'The request exceeds the maximum size.', 413)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('invalidJson', 'Invalid JSON.')
  }
}

function parseBatch(request: EmulatedRequest): unknown[] {
  const messages = parseJson(request, limits.batchBytes)
  if (!Array.isArray(messages) || messages.length === 0) throw invalidField('Messages')
  if (messages.length <= limits.batchMessages) return messages
  const limit = 'You may only send up to 500 messages in a single batched request.'
  throw new Refusal('tooManyMessages', limit)
}
