/**
 * Circuits: while a server fails, calls to it fail at once. There is one for each account at each origin that an
 * integration calls, so that the failing account of one deployment costs another nothing; and one for the platform.
 */
import { hash, randomUUID } from 'node:crypto'
import type { Logger } from '@org/core'
import { causeOf, IntegrationError, isIntegrationError, shortageOf } from '@org/core/errors'
import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  SamplingBreaker,
} from 'cockatiel'

/** A circuit opens when at least half of the calls of ten seconds fail, and there are twenty or more. */
const SAMPLING = { threshold: 0.5, duration: 10_000, minimumRps: 2 }
/** Then one call is let through to see whether the provider is back. */
const HALF_OPEN_AFTER_MS = 5_000
/** Calls to the platform at a time: half of the events of a host, so that the others never wait for it. */
const MOST_CALLBACKS = 250
/** Of an integration. If there are more, all begin anew. */
const MAX_CIRCUITS = 1_000
/** Headers that name an account at a provider. */
const CREDENTIAL_HEADER = /^(authorization|x-.*-token)$/i

/** Stands for an integration where the platform is called. */
export const PLATFORM = 'platform'

/** In the order of `CircuitState`. */
export const circuitStates = ['closed', 'open', 'half_open']

/** A call, with the origin and the account of its circuit. */
interface CircuitCall {
  method: string
  url: string
  isProbe?: boolean | undefined
  headers: Readonly<Record<string, string>>
}

/**
 * Makes the circuits of an integration.
 *
 * @param integration names the provider in errors and in the log
 */
export function createCircuits(integration: string, logger: Logger) {
  const circuits = new Map<string, Circuit>()
  // The keys of the map must not tell a credential, not even to somebody who guesses it.
  const salt = randomUUID()

  function circuitOf({ url, headers }: CircuitCall): Circuit {
    const { origin } = new URL(url)
    const credentials = Object.entries(headers).filter(([name]) => CREDENTIAL_HEADER.test(name))
    const account = hash('sha256', salt + JSON.stringify(credentials), 'base64')
    const key = `${origin} ${account}`
    const known = circuits.get(key)
    if (known) return known
    if (circuits.size === MAX_CIRCUITS) circuits.clear()
    const circuit = createCircuit(origin, integration, logger)
    circuits.set(key, circuit)
    return circuit
  }

  return {
    /**
     * Makes a call. A read is not made while the circuit of its account is open. Changes have a gate in core, whose reads
     * pass.
     *
     * @throws {CircuitOpenError} `provider_error` while it is open
     */
    async run(call: CircuitCall, send: () => Promise<Response>): Promise<Response> {
      if (!isRead(call) || call.isProbe) return send()
      return circuitOf(call).run(send)
    },
    /** The state of each circuit. */
    states: () => [...circuits.values()].map((circuit) => circuit.state()),
  }
}

/**
 * Makes the circuit of the platform, with a limit of calls at a time. An event waits for a platform that hangs, so without
 * them these events would take the places of all others.
 */
export function createPlatformCircuit(logger: Logger) {
  let underWay = 0
  const circuit = createCircuit('the platform', PLATFORM, logger)
  return {
    /** Wraps an attempt of a call. It throws `platform_unavailable` at once if the platform is not called now. */
    wrap:
      (attempt: typeof fetch): typeof fetch =>
      async (input, init) => {
        if (underWay === MOST_CALLBACKS) throw new CircuitOpenError(PLATFORM, 'has too many calls under way')
        underWay += 1
        return circuit
          .run(() => attempt(input, init))
          .finally(() => {
            underWay -= 1
          })
      },
    states: () => [circuit.state()],
  }
}

type Circuit = ReturnType<typeof createCircuit>

function createCircuit(name: string, integration: string, logger: Logger) {
  let reason: string | undefined
  // The host's own errors and shortages, such as a lost lease, are no failures of a server. Only a callback has all its
  // time before it is aborted.
  const isFailure = (error: unknown) =>
    !isIntegrationError(error) && !shortageOf(error) && (integration === PLATFORM || !isAbort(error))
  const circuit = circuitBreaker(handleWhenResult(isServerError).orWhen(isFailure), {
    halfOpenAfter: HALF_OPEN_AFTER_MS,
    breaker: new SamplingBreaker(SAMPLING),
  })
  circuit.onFailure(({ reason: failed }) => {
    const cause = 'error' in failed ? failed.error : 'it answers with an error'
    reason = isAbort(cause) ? 'it does not answer in time' : causeOf(cause)
  })
  circuit.onStateChange((state) => {
    const facts = { integration, ...(state === CircuitState.Open && { reason }) }
    logger('warn', `A circuit to ${name} is ${CircuitState[state]}.`, facts)
  })
  return {
    state: () => circuitStates[circuit.state],
    /** @throws {CircuitOpenError} while the circuit is open */
    async run(send: () => Promise<Response>): Promise<Response> {
      try {
        // The library would let it wait for the call that tries whether the server is back.
        if (circuit.state === CircuitState.HalfOpen) throw new BrokenCircuitError()
        return await circuit.execute(send)
      } catch (cause) {
        if (!(cause instanceof BrokenCircuitError)) throw cause
        throw new CircuitOpenError(integration, 'failed too often and is not called now')
      }
    },
  }
}

/** Whether a call changes nothing. */
export function isRead({ method }: { method: string }): boolean {
  return method === 'GET' || method === 'HEAD'
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Recognises a response by its shape: the HTTP server of the Node host replaces the global `Response`. */
function isServerError(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'status' in result && Number(result.status) >= 500
}

/** A call was not made because its circuit is open. */
export class CircuitOpenError extends IntegrationError {
  constructor(integration: string, why: string) {
    const isPlatform = integration === PLATFORM
    const message = `The ${isPlatform ? 'platform' : 'provider'} ${why}.`
    const options = { retryAfter: HALF_OPEN_AFTER_MS / 1000, provider: { name: integration } }
    super(isPlatform ? 'platform_unavailable' : 'provider_error', message, options)
  }
}
