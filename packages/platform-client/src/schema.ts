import * as z from 'zod'

/** `GET /deployments/{id}`, read tolerantly: what is missing or null counts as empty. */
export const deploymentRecord = z.object({
  id: z.string(),
  inputs: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((inputs) => inputs ?? {}),
  outputs: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((outputs) => outputs ?? {}),
  status: z
    .string()
    .nullish()
    .transform((status) => status ?? undefined),
})
