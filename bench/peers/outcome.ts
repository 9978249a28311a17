export type Outcome =
  | { kind: 'resolved'; value: unknown; ms: number }
  | { kind: 'rejected'; error: unknown; ms: number }
  | { kind: 'waiting'; ms: number }

export async function observe(work: () => Promise<unknown>, limitMs = 20_000): Promise<Outcome> {
  const began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'waiting', ms: ms() }), limitMs)
  })
  const ended = (async () => work())().then(
    (value): Outcome => ({ kind: 'resolved', value, ms: ms() }),
    (error: unknown): Outcome => ({ kind: 'rejected', error, ms: ms() }),
  )
  return Promise.race([ended, limit]).finally(() => clearTimeout(timer))
}

/** The fields of an error by which a program could decide. */
const FACTS = ['code', 'errno', 'statusCode', 'status', 'retryable', 'effect', 'retryAfter', 'recipients']

export function describe(outcome: Outcome): string {
  if (outcome.kind === 'waiting') return `still waiting after ${seconds(outcome.ms)}`
  if (outcome.kind === 'rejected')
    return `throws \`${classOf(outcome.error)}\` ${facts(outcome.error, FACTS)}`.trimEnd()
  const error = field(outcome.value, 'error')
  if (error) return `resolves with \`error\` ${facts(error, ['name', 'statusCode']) || '`{}`'}`
  if (isSent(outcome)) return 'resolves as sent'
  return `resolves with ${typeof outcome.value === 'string' ? 'the text of the page' : 'no id of a mail'}`
}

/** Whether the caller must believe that the mail was sent. */
export function isSent(outcome: Outcome): boolean {
  if (outcome.kind !== 'resolved') return false
  return ['messageId', 'MessageID', 'data'].some((name) => Boolean(field(outcome.value, name)))
}

export function errorOf(outcome: Outcome): unknown {
  if (outcome.kind === 'rejected') return outcome.error
  return outcome.kind === 'resolved' ? field(outcome.value, 'error') : undefined
}

export const classOf = (error: unknown) => (error instanceof Error ? error.constructor.name : typeof error)

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function facts(value: unknown, names: readonly string[]): string {
  const found = names.flatMap((name) => {
    const fact = field(value, name)
    const isFact = ['string', 'number', 'boolean'].includes(typeof fact)
    return isFact || (Array.isArray(fact) && fact.length > 0) ? [`${name}: ${JSON.stringify(fact)}`] : []
  })
  return found.length > 0 ? `\`{ ${found.join(', ')} }\`` : ''
}
