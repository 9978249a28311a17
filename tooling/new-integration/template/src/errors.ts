/** The provider's failures: its own codes and messages, and a hint for each common code. */
import type { Provider } from '@org/core/http'
import { wireAccount, wireRefusal } from './wire.ts'

/** Hints for the provider's codes; the set is open. */
const hints: Readonly<Record<string, string>> = {
  not_found: 'Check the id: the item may have been deleted.',
}

/** The provider, as errors name it. */
export const exampleServiceProvider: Provider = {
  name: 'example-service',
  title: 'The provider',
  credentials: {
    title: 'API token',
    missingHint: 'Pass it as apiToken.',
    rejectedHint: 'Check the API token, and that it was not revoked.',
  },
  probe: { path: '/account', isAnswer: (body) => wireAccount.safeParse(body).success },
  isOwnForm: (body) => wireRefusal.safeParse(body).success,
  readFailure({ body }) {
    const { code, message } = wireRefusal.safeParse(body).data ?? {}
    return { code, message, hint: code === undefined ? undefined : hints[code] }
  },
}
