import * as z from 'zod'
import { valuesAt } from '../contract/marks.ts'
import { callbackBodies, type DownloadFile, type LogEntry, type Metric } from '../contract/platform.ts'
import { createEmulator, type EmulatedRequest, type EmulatorCall, keepNewest } from './emulator.ts'
import { createFaults } from './faults.ts'

/** The record of one deployment. */
export interface EmulatedDeployment {
  id: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown>
  /** The names of the secret outputs. */
  sensitive: string[]
  status: string
  /** The newest 10,000, newest last; the same holds for logs and metrics. */
  statusHistory: { status: string; message?: string | undefined; at: string }[]
  logs: LogEntry[]
  metrics: Metric[]
  /** The files, by the id of the download. */
  downloads: Map<string, DownloadFile[]>
}

/** One call to the platform. */
export interface PlatformCall extends EmulatorCall {
  idempotencyKey: string | undefined
  /** The parsed JSON, or the text; `undefined` if there is no body. */
  body: unknown
}

/** A platform in memory. */
export type PlatformEmulator = ReturnType<typeof createPlatformEmulator>

/** Of each list, and of the keys. */
const KEPT = 10_000

// Stricter than a platform should be, so that an addition to a body shows in a test first.
const status = callbackBodies.status.strict()
const entries = callbackBodies.logs.shape.entries.element.strict().array().min(1)
const metrics = callbackBodies.metrics.shape.metrics.element.strict().array().min(1)
const files = callbackBodies.downloads.shape.files.element.strict().array().min(1)
const outputs = callbackBodies.outputs.strict().superRefine((body, context) => {
  body.sensitive.forEach((output, index) => {
    if (valuesAt(body.outputs, output).length > 0) return
    context.addIssue({ code: 'custom', path: ['sensitive', index], message: `There is no output ${output}` })
  })
})

/** Writes the body of a callback to a deployment, or throws a `ZodError`. */
type Write = (deployment: EmulatedDeployment, body: unknown, downloadId: string) => void

/** The callbacks, by the last part of their path; `downloads` is followed by an id. */
const callbacks: Readonly<Record<string, { method: string; write: Write }>> = {
  status: {
    method: 'PUT',
    write(deployment, body) {
      const given = status.parse(body)
      deployment.status = given.status
      keepNewest(deployment.statusHistory, [{ ...given, at: new Date().toISOString() }], KEPT)
    },
  },
  logs: {
    method: 'POST',
    write: ({ logs }, body) => keepNewest(logs, z.strictObject({ entries }).parse(body).entries, KEPT),
  },
  outputs: {
    method: 'PUT',
    write: (deployment, body) => void Object.assign(deployment, outputs.parse(body)),
  },
  metrics: {
    method: 'POST',
    write: (deployment, body) =>
      keepNewest(deployment.metrics, z.strictObject({ metrics }).parse(body).metrics, KEPT),
  },
  downloads: {
    method: 'PUT',
    write: ({ downloads }, body, id) => void downloads.set(id, z.strictObject({ files }).parse(body).files),
  },
}

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
    const { method = 'GET', write } = route.callback ?? {}
    if (method !== request.method) return problem(405, `Expected ${method}.`, { allow: method })

    const deployment = deployments.get(route.id)
    if (!deployment) return problem(404, `There is no deployment ${route.id}.`)
    if (write) return writeOnce(request, (body) => write(deployment, body, route.downloadId))
    const { id, inputs, outputs, status } = deployment
    return Response.json({ id, inputs, outputs, status })
  }

  function writeOnce(
    { method, url, headers, text }: EmulatedRequest,
    write: (body: unknown) => void,
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
    try {
      write(json.value)
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error
      return problem(422, `The body is invalid: ${z.prettifyError(error)}`)
    }
    if (key !== null) written.set(scope, text)
    const [oldest] = written.keys()
    if (oldest !== undefined && written.size > KEPT) written.delete(oldest)
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
  const parts = /^\/deployments\/([^/]+)(?:\/(?:(status|logs|outputs|metrics)|(downloads)\/([^/]+)))?$/.exec(
    pathname,
  )
  const [, id, plain, downloads, downloadId = ''] = parts?.map(decode) ?? []
  return id ? { id, downloadId, callback: callbacks[plain || downloads || ''] } : undefined
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
