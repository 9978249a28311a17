/**
 * The callbacks that write (contract §5): what their bodies must be, and what becomes of them.
 *
 * @module
 */
import * as z from 'zod'
import type { DownloadFile, LogEntry, Metric } from '../platform.ts'
import { keepNewest } from './emulator.ts'

/** What the emulator knows of one deployment. */
export interface EmulatedDeployment {
  id: string
  inputs: Record<string, unknown>
  outputs: Record<string, unknown>
  /** The names of the outputs that are secret. */
  sensitive: string[]
  status: string
  statusHistory: { status: string; message?: string | undefined; at: string }[]
  /** The newest 10,000, newest last; so are the metrics. */
  logs: LogEntry[]
  metrics: Metric[]
  /** The files, by the id of the download. */
  downloads: Map<string, DownloadFile[]>
}

const KEPT = 10_000

const name = z.string().min(1)
const utc = z.iso.datetime()

const status = z.strictObject({
  status: z.enum(['deploying', 'running', 'unhealthy', 'failed', 'stopped']),
  message: z.string().optional(),
})

const logEntry = z.strictObject({
  level: z.enum(['info', 'warn', 'error']),
  message: z.string(),
  timestamp: utc,
  data: z.record(z.string(), z.unknown()).optional(),
})

const outputs = z
  .strictObject({ outputs: z.record(z.string(), z.unknown()), sensitive: z.array(name) })
  .superRefine((body, context) => {
    body.sensitive.forEach((output, index) => {
      if (Object.hasOwn(body.outputs, output)) return
      const message = `There is no output ${output}`
      context.addIssue({ code: 'custom', path: ['sensitive', index], message })
    })
  })

const metric = z.strictObject({ name, value: z.number(), unit: z.string().optional(), timestamp: utc })

const file = z.strictObject({ path: name, contentType: name, content: z.string() })

/** One kind of callback. */
interface Callback {
  method: 'PUT' | 'POST'
  /** @returns why the body does not fit, where it does not */
  take(deployment: EmulatedDeployment, body: unknown, downloadId: string): z.ZodError | undefined
}

function callback<Schema extends z.ZodType>(
  method: Callback['method'],
  schema: Schema,
  keep: (deployment: EmulatedDeployment, body: z.output<Schema>, downloadId: string) => void,
): Callback {
  return {
    method,
    take(deployment, body, downloadId) {
      const parsed = schema.safeParse(body)
      if (!parsed.success) return parsed.error
      keep(deployment, parsed.data, downloadId)
      return undefined
    },
  }
}

/** The callbacks, by the last part of their path; `downloads` has an id after it. */
export const callbacks: ReadonlyMap<string, Callback> = new Map([
  [
    'status',
    callback('PUT', status, (deployment, body) => {
      deployment.status = body.status
      keepNewest(deployment.statusHistory, [{ ...body, at: new Date().toISOString() }], KEPT)
    }),
  ],
  [
    'logs',
    callback('POST', z.strictObject({ entries: z.array(logEntry).min(1) }), ({ logs }, { entries }) => {
      keepNewest(logs, entries, KEPT)
    }),
  ],
  [
    'outputs',
    callback('PUT', outputs, (deployment, body) => {
      deployment.outputs = body.outputs
      deployment.sensitive = body.sensitive
    }),
  ],
  [
    'metrics',
    callback('POST', z.strictObject({ metrics: z.array(metric).min(1) }), (deployment, body) => {
      keepNewest(deployment.metrics, body.metrics, KEPT)
    }),
  ],
  [
    'downloads',
    callback(
      'PUT',
      z.strictObject({ files: z.array(file).min(1) }),
      ({ downloads }, { files }, downloadId) => {
        downloads.set(downloadId, files)
      },
    ),
  ],
])
