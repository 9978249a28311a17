/**
 * The mail provider as an emulator. It is stricter than the real one about names and types of fields, so that
 * tests see a client’s mistake.
 *
 * @module
 */
import { createEmulator, createFaults, type EmulatedRequest, keepNewest } from '@org/core/emulators'
import { type AcceptedMessage, acceptMessage, limits } from './messages.ts'
import { invalidField, Refusal } from './refusals.ts'
import type { MailProviderSettings } from './settings.ts'

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
  const streams = ['outbound', 'broadcast']
  const none = { senders: undefined, stats: {}, server: {} }
  const first: MailProviderSettings = { apiTokens: ['server-token'], streams, ...none, ...overrides }
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
    [
      '/server',
      { method: 'GET', respond: () => ({ ...server, ApiTokens: settings.apiTokens, ...settings.server }) },
    ],
    ['/stats/outbound', { method: 'GET', respond: ({ url }) => count(url.searchParams, messages, settings) }],
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

  /** The body of a refusal that a fault names by its status alone. */
  const refusal = (status: number) => new Refusal(status === 401 ? 10 : 300, 'Refused.').body
  const { fetch, calls } = createEmulator({ faults, handle, refusal, details: () => ({}) })
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

const server = { ID: 1, Name: 'Emulated server', DeliveryType: 'Sandbox' }
const filters = ['tag', 'fromdate', 'todate', 'messagestream']

/**
 * Counts the accepted messages for `GET /stats/outbound`.
 *
 * @throws {Refusal} if a filter is invalid
 * @see https://postmarkapp.com/developer/api/stats-api
 */
function count(
  query: URLSearchParams,
  messages: readonly AcceptedMessage[],
  { stats }: MailProviderSettings,
): Record<string, number> {
  for (const [name, value] of query) {
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    if (!filters.includes(name) || (name.endsWith('date') && !isDay)) throw invalidField(name)
  }
  const { tag, fromdate = '', todate = '9999', messagestream } = Object.fromEntries(query)
  const counted = messages.filter((message) => {
    const day = message.submittedAt.slice(0, 10)
    const isTagged = message.tag === (tag ?? message.tag)
    const isInStream = message.messageStream === (messagestream ?? message.messageStream)
    return isTagged && isInStream && day >= fromdate && day <= todate
  })
  const tracked = counted.filter(({ trackOpens, trackLinks }) => trackOpens || trackLinks !== 'None')
  const { Sent = counted.length, Bounced = 0, SpamComplaints = 0 } = stats
  const rate = (part: number) => (Sent === 0 ? 0 : Math.round((part / Sent) * 100_000) / 1000)
  return {
    ...{ Sent, Bounced, BounceRate: rate(Bounced) },
    ...{ SpamComplaints, SpamComplaintsRate: rate(SpamComplaints) },
    ...{ Opens: 0, Tracked: tracked.length },
    ...stats,
  }
}

function checkHeaders({ method, headers }: EmulatedRequest, { apiTokens }: MailProviderSettings): void {
  // The neutral name of the header, and the provider’s own: each that is present must hold a known token.
  const tokens = ['x-mailer-server-token', 'x-postmark-server-token'].flatMap(
    (name) => headers.get(name) ?? [],
  )
  if (tokens.length === 0 || !tokens.every((token) => apiTokens.includes(token)))
    throw new Refusal(10, 'Request does not contain a valid Server token.', 401)
  const isJson = (name: string) => /\bapplication\/json\b/i.test(headers.get(name) ?? '')
  if (!isJson('accept') || (method === 'POST' && !isJson('content-type'))) {
    throw new Refusal(409, 'Content-Type and Accept headers must be set to application/json.', 415)
  }
}

function parseJson({ bytes, text }: EmulatedRequest, maxBytes: number): unknown {
  if (bytes > maxBytes) throw new Refusal(300, 'The request exceeds the maximum size.', 413)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(402, 'Invalid JSON.')
  }
}

function parseBatch(request: EmulatedRequest): unknown[] {
  const messages = parseJson(request, limits.batchBytes)
  if (!Array.isArray(messages) || messages.length === 0) throw invalidField('Messages')
  if (messages.length <= limits.batchMessages) return messages
  throw new Refusal(410, 'You may only send up to 500 messages in a single batched request.')
}
