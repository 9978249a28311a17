/**
 * The mail provider as an emulator: its four endpoints, on its wire format exactly, with its limits and its
 * refusals. It is stricter than the real one about names and types of fields, so that a client's mistake
 * is seen.
 *
 * @module
 */
import {
  createEmulator,
  createFaults,
  type EmulatedRequest,
  type EmulatorCall,
  type Faults,
  keepNewest,
} from '@org/core/testing'
import { limits } from './limits.ts'
import { type Acceptance, type AcceptedMessage, judge } from './messages.ts'
import { codes, type Refusal, refuse } from './refusals.ts'
import { defaultSettings, describeServer, type MailProviderSettings } from './settings.ts'
import { bouncing, readStats } from './stats.ts'

/** Options of {@link createMailProvider}: the settings to begin with, and what can't change later. */
export interface MailProviderOptions extends Partial<MailProviderSettings> {
  /**
   * How many accepted messages are kept; the oldest are dropped.
   * @default 100_000
   */
  keep?: number | undefined
  /** @default the system's clock */
  now?: (() => Date) | undefined
}

/** A mail provider that lives in memory. */
export interface MailProvider {
  /** Works as a `fetch` in process, and as a handler for {@link serve}. */
  fetch: typeof globalThis.fetch
  faults: Faults
  /** The accepted messages, newest last. */
  messages: AcceptedMessage[]
  /** The newest 10,000 calls, those that met a fault included, newest last. */
  calls: EmulatorCall[]
  /** Addresses that get no mail, in lower case. Who bounces comes here too. */
  inactive: Set<string>
  /** How the provider behaves; may be changed at any time. */
  settings: MailProviderSettings
  /** Forgets messages, calls, faults and inactive addresses, and restores the first settings. */
  reset(): void
}

/** Messages sent with this token are checked, and not kept. */
const TEST_TOKEN = 'POSTMARK_API_TEST'

const routes: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/email': 'POST',
  '/email/batch': 'POST',
  '/server': 'GET',
  '/stats/outbound': 'GET',
}

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
export function createMailProvider({
  keep = 100_000,
  now = () => new Date(),
  ...overrides
}: MailProviderOptions = {}): MailProvider {
  const first: MailProviderSettings = { ...defaultSettings, ...overrides }
  const settings = { ...first }
  const messages: AcceptedMessage[] = []
  const inactive = new Set<string>()
  const faults = createFaults()
  let sequence = 0

  function handle(request: EmulatedRequest): Response {
    const { pathname, searchParams } = request.url
    const method = Object.hasOwn(routes, pathname) ? routes[pathname] : undefined
    if (!method) return new Response(null, { status: 404 })
    // The real one looks at the method before the token, and says nothing more about it.
    if (method !== request.method) return new Response(null, { status: 405, headers: { allow: method } })

    const tokens = readTokens(request)
    const isTest = tokens.every((token) => token === TEST_TOKEN)
    const isKnown = tokens.every((token) => settings.apiTokens.includes(token))
    if (tokens.length === 0 || !(isKnown || (isTest && method === 'POST'))) {
      return refusal(401, refuse('badToken', 'Request does not contain a valid Server token.'))
    }
    if (!speaksJson(request)) {
      const wanted = 'application/json, text/json, or text/x-json'
      return refusal(415, refuse('jsonRequired', `Content-Type and Accept headers must be set to ${wanted}.`))
    }
    if (pathname === '/server') return Response.json(describeServer(settings))
    if (pathname === '/stats/outbound') return answer(readStats(searchParams, messages, settings))
    return pathname === '/email' ? receiveOne(request, isTest) : receiveBatch(request, isTest)
  }

  function receiveOne(request: EmulatedRequest, isTest: boolean): Response {
    if (request.bytes > limits.messageBytes) return tooLarge('10 MB')
    const json = parseJson(request.text)
    if ('ErrorCode' in json) return refusal(422, json)
    return answer(receive([json.value], { isTest, inBatch: false })[0])
  }

  function receiveBatch(request: EmulatedRequest, isTest: boolean): Response {
    if (request.bytes > limits.batchBytes) return tooLarge('50 MB')
    const json = parseJson(request.text)
    if ('ErrorCode' in json) return refusal(422, json)
    if (!Array.isArray(json.value) || json.value.length === 0) {
      return refusal(422, refuse('invalidField', 'Invalid request field(s): expected an array of messages.'))
    }
    if (json.value.length > limits.batchMessages) {
      return refusal(
        422,
        refuse('tooManyMessages', 'You may only send up to 500 messages in a single batched request.'),
      )
    }
    return Response.json(receive(json.value, { isTest, inBatch: true }))
  }

  function receive(
    values: readonly unknown[],
    { isTest, inBatch }: { isTest: boolean; inBatch: boolean },
  ): (Acceptance | Refusal)[] {
    const accepted: AcceptedMessage[] = []
    const answers = values.map((value) => {
      sequence += 1
      const submittedAt = easternTime(now(), sequence)
      const judgement = judge(value, { settings, inactive, isTest, inBatch, submittedAt })
      if ('ErrorCode' in judgement) return judgement
      if (judgement.message) accepted.push(judgement.message)
      return judgement.answer
    })
    keepNewest(messages, accepted, keep)
    for (const message of accepted) for (const address of bouncing(message)) inactive.add(address)
    return answers
  }

  const { fetch, calls } = createEmulator({ faults, handle, details: () => ({}) })
  return {
    fetch,
    faults,
    messages,
    calls,
    inactive,
    settings,
    reset() {
      messages.length = 0
      calls.length = 0
      inactive.clear()
      faults.clear()
      Object.assign(settings, first)
    },
  }
}

/** The neutral name of the token's header, and the provider's own: what is there must be right. */
function readTokens({ headers }: EmulatedRequest): string[] {
  const tokens = [headers.get('x-mailer-server-token'), headers.get('x-postmark-server-token')]
  return tokens.filter((token) => token !== null)
}

function speaksJson({ method, headers }: EmulatedRequest): boolean {
  const isJson = (header: string) => /\b(?:application|text)\/(?:x-)?json\b/i.test(headers.get(header) ?? '')
  return isJson('accept') && (method === 'GET' || isJson('content-type'))
}

function parseJson(text: string): { value: unknown } | Refusal {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return refuse('invalidJson', 'Invalid JSON.')
  }
}

/** Codes that are not answered with 422. */
const statuses: Readonly<Record<number, number>> = { [codes.streamNotFound]: 404 }

function answer(body: object | undefined): Response {
  if (body && 'ErrorCode' in body && typeof body.ErrorCode === 'number' && body.ErrorCode !== 0) {
    return refusal(statuses[body.ErrorCode] ?? 422, body)
  }
  return Response.json(body)
}

function refusal(status: number, body: object & { ErrorCode: unknown }): Response {
  return Response.json(body, { status, headers: { 'x-pm-apierrorcode': String(body.ErrorCode) } })
}

function tooLarge(limit: string): Response {
  return refusal(413, refuse('invalidRequest', `The request exceeds the maximum size of ${limit}.`))
}

const EASTERN_OFFSET_MS = 5 * 60 * 60 * 1000

/** Like the provider writes it: `2026-11-20T07:25:01.4178645-05:00`. */
function easternTime(date: Date, sequence: number): string {
  const local = new Date(date.getTime() - EASTERN_OFFSET_MS).toISOString().slice(0, -1)
  return `${local}${String(sequence % 10_000).padStart(4, '0')}-05:00`
}
