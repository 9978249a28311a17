/**
 * The callbacks that write (contract §5): what their bodies must be, and what becomes of them.
 *
 * @module
 */
import * as z from 'zod'
import { callbackBodies, type DownloadFile, type LogEntry, type Metric } from '../contract/platform.ts'
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

// Stricter than a platform should be: what a newer host adds must show here first.
const { status, logs, outputs, metrics, downloads } = callbackBodies
const bodies = {
  status: status.strict(),
  logs: z.strictObject({ entries: logs.shape.entries.element.strict().array().min(1) }),
  outputs: outputs.strict().superRefine((body, context) => {
    body.sensitive.forEach((output, index) => {
      if (Object.hasOwn(body.outputs, output)) return
      const message = `There is no output ${output}`
      context.addIssue({ code: 'custom', path: ['sensitive', index], message })
    })
  }),
  metrics: z.strictObject({ metrics: metrics.shape.metrics.element.strict().array().min(1) }),
  downloads: z.strictObject({ files: downloads.shape.files.element.strict().array().min(1) }),
}

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
    callback('PUT', bodies.status, (deployment, body) => {
      deployment.status = body.status
      keepNewest(deployment.statusHistory, [{ ...body, at: new Date().toISOString() }], KEPT)
    }),
  ],
  ['logs', callback('POST', bodies.logs, ({ logs }, { entries }) => keepNewest(logs, entries, KEPT))],
  [
    'outputs',
    callback('PUT', bodies.outputs, (deployment, body) => {
      deployment.outputs = body.outputs
      deployment.sensitive = body.sensitive
    }),
  ],
  [
    'metrics',
    callback('POST', bodies.metrics, (deployment, body) =>
      keepNewest(deployment.metrics, body.metrics, KEPT),
    ),
  ],
  [
    'downloads',
    callback('PUT', bodies.downloads, ({ downloads }, { files }, downloadId) => {
      downloads.set(downloadId, files)
    }),
  ],
])
