/**
 * What a caller learns of a send, as one short text.
 *
 * @module
 */

/** How a call ended. */
export type Outcome =
  | { kind: 'resolved'; value: unknown; ms: number }
  | { kind: 'rejected'; error: unknown; ms: number }
  | { kind: 'waiting'; ms: number }

/** Waits for a call, but no longer than a bound. */
export async function observe(work: () => Promise<unknown>, boundMs = 20_000): Promise<Outcome> {
  const began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  let timer: NodeJS.Timeout | undefined
  const bound = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'waiting', ms: ms() }), boundMs)
  })
  const ended = Promise.resolve()
    .then(work)
    .then(
      (value): Outcome => ({ kind: 'resolved', value, ms: ms() }),
      (error: unknown): Outcome => ({ kind: 'rejected', error, ms: ms() }),
    )
  const outcome = await Promise.race([ended, bound])
  clearTimeout(timer)
  return outcome
}

const TOLD = [
  'code',
  'errno',
  'statusCode',
  'status',
  'responseCode',
  'retryable',
  'sent',
  'retryAfter',
  'recipients',
  'rejected',
]

/** What the caller learns. */
export function describe(outcome: Outcome): string {
  if (outcome.kind === 'waiting') return `still waiting after ${seconds(outcome.ms)}`
  if (outcome.kind === 'rejected') return `throws ${describeError(outcome.error)}`
  const error = field(outcome.value, 'error')
  if (error) return `resolves with \`error\` ${facts(error, ['name', 'statusCode']) || '`{}`'}`
  return isSent(outcome)
    ? 'resolves as sent'
    : `resolves with ${typeof outcome.value === 'string' ? 'the text of the page' : 'no id of a mail'}`
}

/** Whether the caller must take the mail for sent. */
export function isSent(outcome: Outcome): boolean {
  if (outcome.kind !== 'resolved') return false
  const { value } = outcome
  // SendGrid's client resolves with a list of its response and its body, others with an object.
  if (Array.isArray(value)) return true
  return ['messageId', 'MessageID', 'data'].some((name) => Boolean(field(value, name)))
}

/** Whether the caller sees a failure at all. */
export function isFailure(outcome: Outcome): boolean {
  return (
    outcome.kind === 'rejected' || (outcome.kind === 'resolved' && Boolean(field(outcome.value, 'error')))
  )
}

/** The class of an error, and the facts in it that a program could decide by. */
function describeError(error: unknown): string {
  return `\`${classOf(error)}\`${facts(error, TOLD) && ` ${facts(error, TOLD)}`}`
}

/** The name of an error's class. */
export function classOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}

/** A field of whatever it is. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Milliseconds as seconds. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function facts(value: unknown, names: readonly string[]): string {
  const told = names.flatMap((name) => {
    const fact = field(value, name)
    const known =
      ['string', 'number', 'boolean'].includes(typeof fact) || (Array.isArray(fact) && fact.length > 0)
    return known ? [`${name}: ${JSON.stringify(fact)}`] : []
  })
  return told.length > 0 ? `\`{ ${told.join(', ')} }\`` : ''
}
