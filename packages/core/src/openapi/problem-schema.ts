import * as z from 'zod'
import { codes } from '../problem.ts'

/** The schema of a problem. */
export const problemSchema = z.object({
  type: z.string().describe('The kind of problem: `urn:problem:<code>`.'),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe('What happened, and what to do about it.'),
  code: z.enum(codes),
  retryable: z.boolean().describe('Whether the same request may succeed later.'),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe('The invalid fields.'),
  provider: z
    .object({
      name: z.string(),
      status: z.int().optional(),
      code: z.string().optional(),
      message: z.string().optional(),
      traceId: z.string().optional().describe('The provider’s own id of its response, for its support.'),
    })
    .optional()
    .describe('The provider’s own error, if it refused the request.'),
})

/** The body of the response to a failure. */
export type Problem = z.infer<typeof problemSchema>
