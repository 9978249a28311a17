import * as z from 'zod'
import { valuesAt } from '../contract/marks.ts'
import { callbackBodies, type DownloadFile, type LogEntry, type Metric } from '../contract/platform.ts'
import { keepNewest } from './emulator.ts'

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

/** One kind of callback. */
export type Callback = ReturnType<typeof callback>

const KEPT = 10_000

function callback<Schema extends z.ZodType>(
  method: 'PUT' | 'POST',
  schema: Schema,
  apply: (deployment: EmulatedDeployment, body: z.output<Schema>, downloadId: string) => void,
) {
  return {
    method,
    /** @returns why the body is invalid, or `undefined` if it was written */
    write(deployment: EmulatedDeployment, body: unknown, downloadId: string): z.ZodError | undefined {
      const { success, data, error } = schema.safeParse(body)
      if (success) apply(deployment, data, downloadId)
      return error
    },
  }
}

// Stricter than a platform should be, so that an addition to a body shows in a test first.
const { status, logs, outputs, metrics, downloads } = callbackBodies
const entries = logs.shape.entries.element.strict().array().min(1)
const metricList = metrics.shape.metrics.element.strict().array().min(1)
const files = downloads.shape.files.element.strict().array().min(1)
const knownOutputs = outputs.strict().superRefine((body, context) => {
  body.sensitive.forEach((output, index) => {
    if (valuesAt(body.outputs, output).length > 0) return
    context.addIssue({ code: 'custom', path: ['sensitive', index], message: `There is no output ${output}` })
  })
})

/** The callbacks, by the last part of their path; `downloads` is followed by an id. */
export const callbacks: ReadonlyMap<string, Callback> = new Map(
  Object.entries({
    status: callback('PUT', status.strict(), (deployment, body) => {
      deployment.status = body.status
      keepNewest(deployment.statusHistory, [{ ...body, at: new Date().toISOString() }], KEPT)
    }),
    logs: callback('POST', z.strictObject({ entries }), (deployment, body) =>
      keepNewest(deployment.logs, body.entries, KEPT),
    ),
    outputs: callback('PUT', knownOutputs, (deployment, body) => void Object.assign(deployment, body)),
    metrics: callback('POST', z.strictObject({ metrics: metricList }), (deployment, body) =>
      keepNewest(deployment.metrics, body.metrics, KEPT),
    ),
    downloads: callback('PUT', z.strictObject({ files }), (deployment, body, downloadId) => {
      deployment.downloads.set(downloadId, body.files)
    }),
  }),
)
