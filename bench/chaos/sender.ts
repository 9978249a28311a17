import { deliver } from '../../packages/core/src/testing/index.ts'
import { pause } from './clock.ts'
import type { Delivery } from './events.ts'
import type { HostProcess } from './host-process.ts'
import type { Journal } from './journal.ts'
import type { Random } from './random.ts'
import { webhookSecret } from './world.ts'

/** The response to a delivery; its status is 0 if there was none. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  replayed: boolean
  /** In seconds. */
  retryAfter: number
}

/** The platform as the sender of webhooks. */
export interface Sender {
  /** Makes one attempt, at the host with this number or at any. */
  once(delivery: Delivery, host?: number): Promise<Answer>
  /**
   * Retries until the response is final.
   *
   * @throws after `timeoutMs`
   */
  untilAnswered(delivery: Delivery, timeoutMs?: number): Promise<Answer>
}

const LONGEST_ATTEMPT_MS = 30_000
/** A platform waits longer between two attempts. */
const LONGEST_WAIT_MS = 1_000

/** Makes a sender, which signs its deliveries. */
export function createSender(hosts: readonly HostProcess[], journal: Journal, random: Random): Sender {
  async function once({ route, id, event }: Delivery, host = random.below(hosts.length)): Promise<Answer> {
    const answer = await deliver(
      (request) => fetch(request, { signal: AbortSignal.timeout(LONGEST_ATTEMPT_MS) }),
      event,
      { id, secret: webhookSecret, url: `${hosts[host]?.url}/${route}/webhook` },
    ).catch(() => undefined)
    const body = isRecord(answer?.body) ? answer.body : {}
    const status = answer?.status ?? 0
    const code = typeof body.code === 'string' ? body.code : undefined
    journal.write({ kind: 'answer', delivery: id, status, code, host })
    if (code === 'internal_error') {
      // The line may come after the response.
      await pause(100)
      const log = hosts[host]?.process.log.findLast((line) => line.includes('internal_error'))
      journal.write({ kind: 'host fault', delivery: id, log })
    }
    return {
      status,
      body,
      replayed: answer?.headers.get('idempotency-replayed') === 'true',
      retryAfter: Number(answer?.headers.get('retry-after') ?? 0),
    }
  }

  return {
    once,
    async untilAnswered(delivery, timeoutMs = 30_000) {
      const end = Date.now() + timeoutMs
      for (let waitMs = 50; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        const answer = await once(delivery)
        if (answer.status === 200 || (answer.status >= 400 && answer.body.retryable === false)) return answer
        if (Date.now() > end)
          throw new Error(`${delivery.id}: still ${answer.status} ${JSON.stringify(answer.body)}`)
        await pause(Math.max(waitMs * (0.5 + random.next()), 1_000 * answer.retryAfter))
      }
    },
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
