/** The host of one test of the suite for integrations, between the emulators of a provider and of the platform. */
import type { IntegrationDefinition } from '../contract/integration.ts'
import { joinPath } from '../contract/validation.ts'
import { memoryStore } from '../delivery/stores/memory.ts'
import type { HandlerDependencies } from '../pipeline/options.ts'
import type { WebhookHandler } from '../pipeline/webhook.ts'
import { createRedactor } from '../redact.ts'
import { type DeliveryResponse, deliver } from './deliver.ts'
import type { EmulatorCall } from './emulator.ts'
import type { Faults } from './faults.ts'
import { createPlatformEmulator } from './platform.ts'
import { connectPlatform } from './platform-port.ts'

/** An integration under test, with its provider; each test makes a new one. */
export interface IntegrationFixture {
  /**
   * Passes the dependencies to the integration's own `createHandler`, with its settings: `baseUrl`, and the shared
   * account if it has one.
   */
  createHandler(dependencies: HandlerDependencies): WebhookHandler
  /** The provider's base URL among the settings; not the default. */
  baseUrl: string
  /** The emulator of the provider. */
  provider: { fetch: typeof globalThis.fetch; faults: Faults; calls: readonly EmulatorCall[] }
  /** The inputs of a deployment that succeeds, with credentials of its own. */
  inputs: Record<string, unknown>
  /** Every credential among the inputs and the settings. */
  credentials: readonly string[]
  /** A function with an effect that the suite can count. */
  effectfulCall: {
    name: string
    /** Valid arguments; others for each number, so that the provider accepts both. */
    arguments(number: number): Record<string, unknown>
    /** How often it took effect at the provider. */
    count(): number
  }
  /** Gives the provider what the examples of the contract name. Called when the deployment runs. */
  prepare?(): void
  /** How much DEPLOYMENT_CREATED has created at the provider; left out if it creates nothing. */
  provisioned?(): number
}

/**
 * An integration with its emulator, as `createSample` of a package's `./testing` makes it: the sandbox and the tests of
 * the host take it, and the fixture of {@link describeIntegration} has the same parts.
 */
export interface IntegrationSample extends Pick<IntegrationFixture, 'inputs' | 'credentials' | 'prepare'> {
  definition: IntegrationDefinition
  provider: IntegrationFixture['provider'] & {
    /** Forgets everything. */
    reset(): void
  }
  /** The host's variables for its provider at this base URL. */
  variables(baseUrl: string): Record<string, string>
}

/** The host of one test. */
export type IntegrationHost = ReturnType<typeof createIntegrationHost>

export const deployment = { id: 'dep_1' }

/**
 * The longest time for one event, in milliseconds: far beyond the deadlines of the suite, but below the 10 seconds that
 * a client waits for one response by default.
 */
const PATIENCE_MS = 8_000

/** Fails a test, in the words of a sentence. */
export function fail(sentence: string): never {
  throw new Error(sentence)
}

/** Whether a call may have changed something. */
export const isChange = ({ method }: EmulatorCall) => method !== 'GET' && method !== 'HEAD'

/** A request in one line, and with everything that could hold a credential. */
async function describeRequest(request: Request) {
  const line = `${request.method} ${request.url} ${await request.text()}`
  return { url: request.url, line, everything: [line, ...request.headers.values()].join(' ') }
}

/** Whether a text holds one of the credentials, in any spelling. */
export function holdsAny(credentials: readonly string[], text: string): boolean {
  return credentials.some((each) => text.includes(each)) || createRedactor(credentials).text(text) !== text
}

/** Every text of data, with its path. */
export function* textsIn(
  data: unknown,
  path: readonly PropertyKey[] = [],
): Generator<[path: string, text: string]> {
  if (typeof data === 'string') yield [joinPath('', path), data]
  if (typeof data !== 'object' || data === null) return
  for (const [key, value] of Object.entries(data))
    yield* textsIn(value, [...path, Array.isArray(data) ? Number(key) : key])
}

/** A refusal that quotes the whole request, in the formats of many providers. */
async function quoteBack(request: Request, code: string | number): Promise<Response> {
  const { everything: message } = await describeRequest(request)
  const error = { code, message, long_message: message, detail: message }
  return Response.json({ ...error, Message: message, ErrorCode: 10, errors: [error], error }, { status: 422 })
}

/** Makes a host and everything around it. */
export function createIntegrationHost(fixture: IntegrationFixture) {
  const platform = createPlatformEmulator()
  const record = platform.addDeployment({ ...deployment, inputs: fixture.inputs })
  const memory = memoryStore()
  const traces: unknown[] = []
  /** Every request to the provider: its method, URL, headers and body. */
  const requests: ReturnType<typeof describeRequest>[] = []
  const authorizations = new Set<string>()
  let echoed: string | number | undefined
  const ownInputs = JSON.stringify(fixture.inputs)
  const hostCredentials = fixture.credentials.filter((credential) => !ownInputs.includes(credential))
  const { origin } = new URL(fixture.baseUrl)

  const toProvider: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    requests.push(describeRequest(request.clone()))
    // As it is sent: `Basic` encodes the credential.
    const authorization = request.headers.get('authorization')?.split(' ').at(-1)
    if (authorization) authorizations.add(authorization)
    return echoed === undefined ? fixture.provider.fetch(request) : quoteBack(request, echoed)
  }

  const handler = (dependencies: Partial<HandlerDependencies> = {}) =>
    fixture.createHandler({
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      store: {
        ...memory,
        advance(lease, progress) {
          traces.push(structuredClone(progress))
          return memory.advance(lease, progress)
        },
        complete(lease, completion) {
          traces.push(structuredClone(completion))
          return memory.complete(lease, completion)
        },
      },
      fetch: toProvider,
      // A deployment may bring a URL, and the credential for it.
      egress: { refuse: () => undefined, fetch: fixture.provider.fetch },
      logger: (...line) => void traces.push(line),
      ...dependencies,
    })
  const handle = handler()

  /** Says what came instead, with what the log says about it. */
  function describeResponse({ status, body }: DeliveryResponse): string {
    const { code, detail, errors = [] } = Object(body)
    const reasons = traces.flatMap((trace) => (Array.isArray(trace) ? (Object(trace[2]).reason ?? []) : []))
    const faults = errors.map(({ path, message }: { path: string; message: string }) => `${path} ${message}`)
    const words = code ? [code, detail, ...faults] : [JSON.stringify(body)]
    return `the response is ${status}: ${[...words, ...reasons.slice(-1)].join(' | ')}`
  }

  return {
    ...fixture,
    platform,
    record,
    /** A handler on the same platform, provider and store, unless the dependencies replace them. */
    handler,
    describeResponse,
    /** The requests to the provider, in a fixed order. */
    sent: async () => (await Promise.all(requests)).map(({ line }) => line).sort(),
    /** The credentials of the settings: those that the deployment does not bring. */
    hostCredentials,
    /** Checks that no request had a credential of the settings. */
    async expectOwnCredentials(what: string): Promise<void> {
      for (const { line, everything } of await Promise.all(requests)) {
        if (holdsAny(hostCredentials, everything))
          fail(
            `${what} of a deployment with credentials of its own uses a credential of the settings: ${line}`,
          )
      }
    },
    async send(event: object, { id, using = handle }: { id?: string; using?: WebhookHandler } = {}) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<never>((_, reject) => {
        const { name, functionCall } = Object(event)
        const sentence = `${functionCall?.name ?? name} goes on after its deadline. Pass the handler’s context to every call of the client.`
        timer = setTimeout(() => reject(new Error(sentence)), PATIENCE_MS)
      })
      return Promise.race([deliver(using, event, { id }), late]).finally(() => clearTimeout(timer))
    },
    /** From now on, the provider refuses every request, and quotes it under this code. */
    echo(code: string | number): void {
      echoed = code
    },
    /** Checks that an event succeeded. */
    expectSuccess(promise: string, response: DeliveryResponse): DeliveryResponse {
      return response.status === 200 ? response : fail(`${promise}, but ${describeResponse(response)}`)
    },
    /** Checks that every call went to the provider of the settings. */
    async expectHome(): Promise<void> {
      for (const { url, line } of await Promise.all(requests)) {
        if (new URL(url).origin !== origin)
          fail(`Every call goes to ${origin}, the baseUrl of the settings, but: ${line}`)
      }
    },
    /** The calls that may have changed something. */
    changes: () => fixture.provider.calls.filter(isChange),
    /** The statuses that the platform got, in order. */
    statuses: () => record.statusHistory.map(({ status }) => status),
    /** Everything that must hold no secret: the log, the store, and the callbacks except outputs. */
    traces: () => ({
      traces,
      callbacks: platform.calls.filter(({ path }) => !path.endsWith('/outputs')),
    }),
    /** The credentials that must stay secret, as the provider got them, too. */
    secrets: () => [...fixture.credentials, ...authorizations],
  }
}
