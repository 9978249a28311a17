import { checkPublished, timesSent } from './checks.ts'
import { pause } from './clock.ts'
import { addressOf, challenge, created, deleted, health, sendEmail, sendEmails } from './events.ts'
import type { Random } from './random.ts'
import type { Arrangement } from './run.ts'
import { type Answer, type Delivery, isRecord } from './sender.ts'

/** What a platform did with one thing from its beginning to its end, and what it was told. */
export interface Life {
  id: string
  deployment: string | undefined
  deleted: boolean
  answer: Answer
  code: unknown
  /** Messages of a batch that it was told are unknown. */
  unknown: number
}

const PEOPLE = 20
/** A platform tries for days; nothing may take longer than this to be answered once all is calm. */
const PATIENCE_MS = 15 * 60_000

/** Lives one life: a mail, a batch, a deployment, or a question. */
export async function liveOn(arrangement: Arrangement, number: number, random: Random): Promise<Life> {
  const { platform } = arrangement
  const id = `life_${number}`
  const kind = random.below(20)
  if (kind < 3) return told(id, await deliver(arrangement, challenge(id), random))
  if (kind < 5) return told(id, await deliver(arrangement, health(id, 'auth'), random))
  if (kind < 14) return told(id, await deliver(arrangement, sendEmail(id), random))
  if (kind < 15) return told(id, await deliver(arrangement, sendEmails(id, PEOPLE), random))

  platform.addDeployment({ id })
  const creation = deliver(arrangement, created(id, id), random)
  // Some are deleted while they are still being created, some at once, some later, a few not at all.
  const fate = random.below(4)
  if (fate > 0) await creation
  if (fate === 2) await deliver(arrangement, created(id, id, `${id}_again`), random)
  // Hardly any stays, or every creation would soon look through a list of thousands.
  if (fate === 3 && random.below(10) === 0) return told(id, await creation, id)
  await pause(random.below(fate === 3 ? 10_000 : 300))
  const deletion = await deliver(arrangement, deleted(id), random)
  await creation
  return { ...told(id, deletion, id), deleted: true }
}

/** Delivers until it is answered, and now and then once more at the same time, or afterwards. */
async function deliver({ sender }: Arrangement, delivery: Delivery, random: Random): Promise<Answer> {
  const again = random.below(5) === 0 ? sender.once(delivery) : undefined
  const answer = await sender.untilAnswered(delivery, PATIENCE_MS).catch(
    (error: Error): Answer => ({
      status: 0,
      body: { detail: error.message },
      replayed: false,
      retryAfter: 0,
    }),
  )
  await again
  if (random.below(10) === 0) await sender.once(delivery)
  return answer
}

function told(id: string, answer: Answer, deployment?: string): Life {
  const result = isRecord(answer.body.result) ? answer.body.result : {}
  const unknown = typeof result.unknown === 'number' ? result.unknown : 0
  return { id, deployment, deleted: false, answer, code: answer.body.code, unknown }
}

/** Whether what was told about a life is what happened. */
export function checkLife(
  arrangement: Arrangement,
  { id, deployment, deleted: isDeleted, answer }: Life,
): string[] {
  const { status, body } = answer
  if (status === 409 && body.code === 'outcome_unknown' && !deployment) return []
  const faults = status === 200 ? [] : [`${id}: ${status} ${JSON.stringify(body)}`]
  if (deployment && isDeleted) {
    if (body.status !== 'stopped') faults.push(`${id}: its deletion was answered ${JSON.stringify(body)}`)
  } else if (deployment) faults.push(...checkPublished(arrangement, deployment))
  return [...faults, ...checkMails(arrangement, id, body)]
}

function checkMails(arrangement: Arrangement, id: string, { result }: Answer['body']): string[] {
  if (!isRecord(result)) return []
  const times = timesOf(arrangement)
  const results = Array.isArray(result.results)
    ? result.results
    : [{ ...result, index: undefined, status: 'sent' }]
  return results.flatMap(({ index, status }) => {
    const sent = times.get(addressOf(index === undefined ? id : `${id}.${index}`)) ?? 0
    const fits = status === 'sent' ? sent === 1 : status === 'unknown' ? sent <= 1 : sent === 0
    return fits ? [] : [`${id}: a mail is said to be ${status}, and was sent ${sent} times`]
  })
}

const counted = new WeakMap<object, { of: number; times: Map<string, number> }>()

/** The same count for all lives, as long as nothing was sent in between. */
function timesOf(arrangement: Arrangement): Map<string, number> {
  const { effects } = arrangement.journal
  const known = counted.get(effects)
  if (known?.of === effects.length) return known.times
  const times = timesSent(arrangement)
  counted.set(effects, { of: effects.length, times })
  return times
}
