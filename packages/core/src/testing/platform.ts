import * as z from 'zod'
import { createEmulator, type EmulatedRequest, type EmulatorCall } from './emulator.ts'
import { createFaults } from './faults.ts'
import { type Callback, callbacks, type EmulatedDeployment } from './platform-callbacks.ts'

/** One call to the platform. */
export interface PlatformCall extends EmulatorCall {
  idempotencyKey: string | undefined
  /** The parsed JSON, or the text; `undefined` if there is no body. */
  body: unknown
}

/** A platform in memory. */
export type PlatformEmulator = ReturnType<typeof createPlatformEmulator>

const KEYS_KEPT = 10_000

/**
 * Makes a platform without any deployment. It refuses every callback that breaks the contract (§5), and says why.
 * Its `fetch` works in process, and as a handler for {@link serve}.
 *
 * @param options.token the bearer token that every call must carry; by default, calls need none
 */
export function createPlatformEmulator({ token }: { token?: string | undefined } = {}) {
  const deployments = new Map<string, EmulatedDeployment>()
  const faults = createFaults()
  const written = new Map<string, string>()

  function handle(request: EmulatedRequest): Response {
    if (token !== undefined && request.headers.get('authorization') !== `Bearer ${token}`)
      return problem(401, 'The token is missing or wrong.')
    const route = findRoute(request.url.pathname)
    if (!route) return problem(404, `There is no ${request.url.pathname}.`)
    const method = route.callback?.method ?? 'GET'
    if (method !== request.method) return problem(405, `Expected ${method}.`, { allow: method })

    const deployment = deployments.get(route.id)
    if (!deployment) return problem(404, `There is no deployment ${route.id}.`)
    if (route.callback) return writeOnce(request, deployment, route.callback, route.downloadId)
    const { id, inputs, outputs, status } = deployment
    return Response.json({ id, inputs, outputs, status })
  }

  function writeOnce(
    { method, url, headers, text }: EmulatedRequest,
    deployment: EmulatedDeployment,
    callback: Callback,
    downloadId: string,
  ): Response {
    const key = headers.get('idempotency-key')
    const scope = `${method} ${url.pathname} ${key}`
    const earlier = key === null ? undefined : written.get(scope)
    if (earlier === text)
      return Response.json({ accepted: true }, { headers: { 'idempotency-replayed': 'true' } })
    if (earlier !== undefined) return problem(422, `The idempotency key ${key} was used with another body.`)
    if (key === '') return problem(422, 'The idempotency key is empty.')
    if (!/^application\/json\b/i.test(headers.get('content-type') ?? ''))
      return problem(415, 'The content type must be application/json.')
    const json = parseJson(text)
    if (!json) return problem(400, 'The body is not JSON.')
    const error = callback.write(deployment, json.value, downloadId)
    if (error) return problem(422, `The body is invalid: ${z.prettifyError(error)}`)
    if (key !== null) written.set(scope, text)
    const [oldest] = written.keys()
    if (oldest !== undefined && written.size > KEYS_KEPT) written.delete(oldest)
    return Response.json({ accepted: true })
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
    /** The newest 10,000 calls, newest last, calls that met a fault included. */
    calls,
    addDeployment(given: { id: string; inputs?: Record<string, unknown> | undefined }): EmulatedDeployment {
      const { id, inputs = {} } = given
      const lists = { sensitive: [], statusHistory: [], logs: [], metrics: [] }
      const deployment = { id, inputs, outputs: {}, status: 'deploying', ...lists, downloads: new Map() }
      deployments.set(id, deployment)
      return deployment
    },
    /** The platform answers 404 about it from now on. */
    removeDeployment: (id: string): void => void deployments.delete(id),
    /** Removes everything: deployments, calls, faults, idempotency keys. */
    reset(): void {
      deployments.clear()
      faults.clear()
      written.clear()
      calls.length = 0
    },
  }
}

/** @returns the parts of a path; without a callback, the deployment is read */
function findRoute(pathname: string) {
  const parts = /^\/deployments\/([^/]+)(?:\/([a-z]+)(?:\/([^/]+))?)?$/.exec(pathname)
  const [, id, kind, downloadId] = parts?.map(decode) ?? []
  if (!id) return undefined
  const callback = kind ? callbacks.get(kind) : undefined
  if (kind && (!callback || (kind === 'downloads') !== Boolean(downloadId))) return undefined
  return { id, downloadId: downloadId ?? '', callback }
}

function decode(part = ''): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

function problem(status: number, detail: string, headers: Record<string, string> = {}) {
  const body = { type: 'about:blank', title: 'The call was refused', status, detail }
  return Response.json(body, { status, headers: { 'content-type': 'application/problem+json', ...headers } })
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
