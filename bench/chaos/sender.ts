import { deliver } from '../../packages/core/src/testing/index.ts'
import { pause } from './clock.ts'
import type { HostProcess } from './host-process.ts'
import type { Journal } from './journal.ts'
import type { Random } from './random.ts'
import { webhookSecret } from './world.ts'

/** What one delivery was answered; status 0 where no answer came. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  replayed: boolean
  /** Seconds to wait before the next try, where the answer says so. */
  retryAfter: number
}

/** One event, as the platform delivers it: the same route, id and body at every try. */
export interface Delivery {
  route: 'auth' | 'idp' | 'idp-server' | 'mailer'
  id: string
  event: Record<string, unknown>
}

/** The platform as a sender of webhooks: it delivers until it is answered. */
export interface Sender {
  /** One try, at the host of that number, or at any. */
  once(delivery: Delivery, host?: number): Promise<Answer>
  /**
   * Tries until the answer is final.
   *
   * @throws where none is within `timeoutMs`
   */
  untilAnswered(delivery: Delivery, timeoutMs?: number): Promise<Answer>
}

const LONGEST_TRY_MS = 30_000
/** Between two tries; a platform waits longer, and a run has less time. */
const LONGEST_WAIT_MS = 1_000

/** Makes a sender; it signs what it sends. */
export function createSender(hosts: readonly HostProcess[], journal: Journal, random: Random): Sender {
  async function once({ route, id, event }: Delivery, host = random.below(hosts.length)): Promise<Answer> {
    const answer = await deliver(
      (request) => fetch(request, { signal: AbortSignal.timeout(LONGEST_TRY_MS) }),
      event,
      { id, secret: webhookSecret, url: `${hosts[host]?.url}/${route}/webhook` },
    ).catch(() => undefined)
    const body = isRecord(answer?.body) ? answer.body : {}
    const status = answer?.status ?? 0
    const code = typeof body.code === 'string' ? body.code : undefined
    journal.write({ kind: 'answer', delivery: id, status, code, host })
    if (code === 'internal_error') {
      // The line may come after the answer.
      await pause(100)
      const log = hosts[host]?.log.findLast((line) => line.includes('internal_error'))
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
        if (Date.now() > end) {
          throw new Error(`${delivery.id}: still ${answer.status} ${JSON.stringify(answer.body)}`)
        }
        await pause(Math.max(waitMs * (0.5 + random.next()), 1_000 * answer.retryAfter))
      }
    },
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
