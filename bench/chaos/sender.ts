import { deliver } from '../../packages/core/src/testing/index.ts'
import { pause } from '../shared/clock.ts'
import type { Delivery } from './events.ts'
import { type Journal, webhookSecret } from './world.ts'

/** The response to a delivery; its status is 0 if there was none. */
export interface Received {
  status: number
  body: Record<string, unknown>
  replayed: boolean
  retryAfter: number
}

const LONGEST_ATTEMPT_MS = 30_000

export type Sender = ReturnType<typeof createSender>

/** Makes the platform as the sender of webhooks, which signs its deliveries. */
export function createSender(hosts: readonly { url: string }[], journal: Pick<Journal, 'responses'>) {
  let turn = 0

  /** Makes one attempt, at the host with this number or at the next. */
  async function once({ route, id, event }: Delivery, host = turn++ % hosts.length): Promise<Received> {
    const response = await deliver(
      (request) => fetch(request, { signal: AbortSignal.timeout(LONGEST_ATTEMPT_MS) }),
      event,
      { id, secret: webhookSecret, url: `${hosts[host]?.url}/${route}/webhook` },
    ).catch(() => undefined)
    const body = isRecord(response?.body) ? response.body : {}
    const status = response?.status ?? 0
    const code = typeof body.code === 'string' ? body.code : undefined
    journal.responses.push({ status, code })
    return {
      status,
      body,
      replayed: response?.headers.get('idempotency-replayed') === 'true',
      retryAfter: Number(response?.headers.get('retry-after') ?? 0),
    }
  }

  return {
    once,
    /** Retries until the response is final, at most for `timeoutMs`. The longest wait between two is a thirtieth of it. */
    async untilFinal(delivery: Delivery, timeoutMs = 30_000, host?: number): Promise<Received> {
      const end = Date.now() + timeoutMs
      for (let waitMs = 50; ; waitMs = Math.min(2 * waitMs, timeoutMs / 30)) {
        const received = await once(delivery, host)
        const { status, body, retryAfter } = received
        const isFinal = status === 200 || (status >= 400 && body.retryable === false)
        if (isFinal || Date.now() > end) return received
        await pause(Math.max(waitMs * (0.5 + Math.random()), 1_000 * retryAfter))
      }
    },
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
