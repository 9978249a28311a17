/** The provider's shapes, with the fields that the client uses. */
import * as z from 'zod'

/** `GET /account`. */
export const wireAccount = z.object({ id: z.string(), name: z.string() })

/** `POST /items` and `GET /items/{id}`. */
export const wireItem = z.object({ id: z.string(), name: z.string() })

/** `GET /items/count`. */
export const wireCount = z.object({ count: z.int() }).transform(({ count }) => count)

/** The body of a failure. */
export const wireRefusal = z.object({ code: z.string(), message: z.string().optional() })
