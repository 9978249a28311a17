/**
 * The platform's side of the callbacks (contract §5), as an emulator. It is stricter than a real platform
 * would be: a call that does not fit the contract is refused with the reason, so that a test notices.
 *
 * @module
 */
import * as z from 'zod'
import { createEmulator, type EmulatedRequest, type EmulatorCall } from './emulator.ts'
import { createFaults, type Faults } from './faults.ts'
import { callbacks, type EmulatedDeployment } from './platform-callbacks.ts'

/** One call to the platform. */
export interface PlatformCall extends EmulatorCall {
  idempotencyKey: string | undefined
  /** Parsed, where it is JSON; `undefined` where there is none. */
  body: unknown
}

/** Options of {@link createPlatformEmulator}. */
export interface PlatformEmulatorOptions {
  /**
   * The bearer token that every call must carry.
   * @default none: everyone may call
   */
  token?: string | undefined
}

/** A platform that lives in memory. */
export interface PlatformEmulator {
  /** Works as a `fetch` in process, and as a handler for {@link serve}. */
  fetch: typeof globalThis.fetch
  faults: Faults
  deployments: Map<string, EmulatedDeployment>
  /** The newest 10,000 calls, those that met a fault included, newest last. */
  calls: PlatformCall[]
  addDeployment(deployment: { id: string; inputs?: Record<string, unknown> | undefined }): EmulatedDeployment
  /** From now on the platform answers 404 about it. */
  removeDeployment(id: string): void
  /** Forgets everything: deployments, calls, faults, idempotency keys. */
  reset(): void
}

const KEYS_KEPT = 10_000

/**
 * Makes a platform without any deployment.
 *
 * @example
 * ```ts
 * const platform = createPlatformEmulator({ token: 'secret' })
 * platform.addDeployment({ id: 'dep_1', inputs: { serverType: 'shared' } })
 * platform.faults.add({ method: 'PUT', path: /outputs$/, status: 503 })
 * ```
 */
export function createPlatformEmulator({ token }: PlatformEmulatorOptions = {}): PlatformEmulator {
  const deployments = new Map<string, EmulatedDeployment>()
  const faults = createFaults()
  const writes = new Map<string, { body: string; answer: object }>()

  function handle(request: EmulatedRequest): Response {
    if (token !== undefined && request.headers.get('authorization') !== `Bearer ${token}`) {
      return problem(401, 'The token is missing or wrong.')
    }
    const route = findRoute(request.url.pathname)
    if (!route) return problem(404, `There is no ${request.url.pathname}.`)
    const method = route.callback?.method ?? 'GET'
    if (method !== request.method) return problem(405, `Expected ${method}.`, { headers: { allow: method } })

    const deployment = deployments.get(route.id)
    if (!deployment) return problem(404, `There is no deployment ${route.id}.`)
    if (route.callback) return once(request, () => write(deployment, route, request))
    const { id, inputs, outputs, status } = deployment
    return Response.json({ id, inputs, outputs, status })
  }

  /** The same key again: the same answer, and no second effect. */
  function once(request: EmulatedRequest, act: () => Response | object): Response {
    const key = request.headers.get('idempotency-key')
    const scope = `${request.method} ${request.url.pathname} ${key}`
    const earlier = key === null ? undefined : writes.get(scope)
    if (earlier && earlier.body !== request.text) {
      return problem(422, `The idempotency key ${key} was used with another body.`)
    }
    if (earlier) return Response.json(earlier.answer, { headers: { 'idempotency-replayed': 'true' } })

    const answer = act()
    if (answer instanceof Response) return answer
    if (key !== null) writes.set(scope, { body: request.text, answer })
    for (const oldest of writes.keys()) {
      if (writes.size <= KEYS_KEPT) break
      writes.delete(oldest)
    }
    return Response.json(answer)
  }

  const { fetch, calls } = createEmulator({
    faults,
    handle,
    details: ({ headers, text }) => ({
      idempotencyKey: headers.get('idempotency-key') ?? undefined,
      body: text === '' ? undefined : (parseJson(text)?.value ?? text),
    }),
  })

  return {
    fetch,
    faults,
    deployments,
    calls,
    addDeployment({ id, inputs = {} }) {
      const deployment: EmulatedDeployment = {
        id,
        inputs,
        outputs: {},
        sensitive: [],
        status: 'deploying',
        statusHistory: [],
        logs: [],
        metrics: [],
        downloads: new Map(),
      }
      deployments.set(id, deployment)
      return deployment
    },
    removeDeployment(id) {
      deployments.delete(id)
    },
    reset() {
      deployments.clear()
      faults.clear()
      writes.clear()
      calls.length = 0
    },
  }
}

interface Route {
  id: string
  downloadId: string
  /** Absent where the deployment is read. */
  callback: ReturnType<(typeof callbacks)['get']>
}

function findRoute(pathname: string): Route | undefined {
  const [, id, kind, downloadId] =
    /^\/deployments\/([^/]+)(?:\/([a-z]+)(?:\/([^/]+))?)?$/.exec(pathname)?.map(decode) ?? []
  if (!id) return undefined
  if (!kind) return { id, downloadId: '', callback: undefined }
  const callback = callbacks.get(kind)
  if (!callback || (kind === 'downloads') !== Boolean(downloadId)) return undefined
  return { id, downloadId: downloadId ?? '', callback }
}

function decode(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    return ''
  }
}

function write(deployment: EmulatedDeployment, route: Route, request: EmulatedRequest): Response | object {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    return problem(415, 'The content type must be application/json.')
  }
  if (request.headers.get('idempotency-key') === '') return problem(422, 'The idempotency key is empty.')
  const json = parseJson(request.text)
  if (!json) return problem(400, 'The body is not JSON.')
  const misfit = route.callback?.take(deployment, json.value, route.downloadId)
  if (!misfit) return { accepted: true }

  const errors = misfit.issues.map(({ path, message }) => ({ path: z.core.toDotPath(path), message }))
  const reasons = errors.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  return problem(422, `The body does not fit: ${reasons.join('; ')}`, { errors })
}

function problem(
  status: number,
  detail: string,
  { headers = {}, errors }: { headers?: Record<string, string>; errors?: object[] } = {},
): Response {
  return Response.json(
    { type: 'about:blank', title: 'The call was refused', status, detail, errors },
    { status, headers: { 'content-type': 'application/problem+json', ...headers } },
  )
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
