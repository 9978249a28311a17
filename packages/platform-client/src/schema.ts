import * as z from 'zod'

const fields = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => value ?? {})

/** `GET /deployments/{id}`, read tolerantly: missing and null fields count as empty. */
export const deploymentRecord = z.object({
  id: z.string(),
  inputs: fields,
  outputs: fields,
  status: z
    .string()
    .nullish()
    .transform((status) => status ?? undefined),
})
