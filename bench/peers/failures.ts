/**
 * How each SDK behaves when a send fails: one row for each failure.
 *
 * @module
 */
import type { Fault } from '@org/core/testing'
import { type HttpProblem, type Provider, startHttpProvider } from './http-provider.ts'
import type { Installed } from './install.ts'
import { classOf, describe, errorOf, field, isSent, type Outcome, observe, seconds } from './outcome.ts'
import type { Client, Mail, Peer } from './peers.ts'
import { type SmtpProblem, startSmtpProvider } from './smtp-provider.ts'
import type { ComparedRow } from './table.ts'

/** An SDK with a provider of its own. */
interface Stage extends Pick<Provider<never>, 'requests' | 'accepted' | 'close'> {
  peer: Peer
  client: Client
  /** Causes the problem of the peer's protocol. */
  cause(problems: { http?: HttpProblem; smtp?: SmtpProblem }, times?: number): void
}

const mail: Mail = { from: 'shop@example.com', to: ['ada@example.org'], subject: 'Hello', text: 'Hi Ada' }
const INACTIVE = 'bob@example.org'
const CUT = { http: { cut: 'after' }, smtp: { cut: 'after' } } as const
const HANG = { http: { hang: true }, smtp: { hang: true } } as const
const HTML: Fault = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Please sign in</title>',
}
const inactive: Fault = {
  status: 422,
  body: {
    ErrorCode: 406,
    Message: `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${INACTIVE}. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.`,
  },
}

/** An error in the formats of all APIs at once. */
const refusal = (
  status: number,
  code: number,
  name: string,
  headers: Record<string, string> = {},
): Fault => ({
  status,
  headers,
  body: { ErrorCode: code, Message: 'No', message: 'No', name, statusCode: status, errors: [] },
})
const rateLimit = (retryAfter: string) =>
  refusal(429, 429, 'rate_limit_exceeded', { 'retry-after': retryAfter })

/** A cell for an SDK whose provider never responds so. */
const OWN_RESPONSE = 'n/a: its provider has no such answer'
const hasResponse = ({ protocol, name }: Peer) =>
  protocol === 'smtp' || name === '@org/mailer' || name === 'postmark'

/** Runs every failure with every SDK. */
export async function failureRows(installed: readonly Installed[]): Promise<ComparedRow[]> {
  const rows: ComparedRow[] = []
  for (const { title, note, run } of failures) {
    const cells = installed.map(async (sdk) => {
      const stage = await startStage(sdk)
      return run(stage).finally(stage.close)
    })
    rows.push({ title, note, cells: await Promise.all(cells) })
  }
  return rows
}

async function startStage({ peer, project }: Installed): Promise<Stage> {
  if (peer.protocol === 'smtp') {
    const provider = await startSmtpProvider()
    return {
      ...provider,
      peer,
      client: peer.connect(project, provider.port),
      cause: ({ smtp }, times) => smtp && provider.cause(smtp, times),
    }
  }
  const provider = await startHttpProvider()
  return {
    ...provider,
    peer,
    client: peer.connect(project, provider.port),
    cause: ({ http }, times) => http && provider.cause(http, times),
  }
}

const failures: readonly { title: string; note?: string; run: (stage: Stage) => Promise<string> }[] = [
  {
    title: '600 messages in one call',
    async run({ client: { sendMany }, requests, accepted }) {
      if (!sendMany) return 'n/a: it has no call for many mails'
      const mails = Array.from({ length: 600 }, (_, at) => ({ ...mail, to: [`person-${at}@example.org`] }))
      const outcome = await observe(() => sendMany(mails))
      const value = outcome.kind === 'resolved' ? outcome.value : undefined
      const results = field(value, 'results')
      const told = Array.isArray(results)
        ? `resolves with ${results.length} results in order`
        : Array.isArray(value)
          ? `resolves with ${value.length} answers`
          : describe(outcome)
      return `${count(requests(), 'request')}, ${count(accepted(), 'mail')}; ${told}`
    },
  },
  {
    title: '429 with `Retry-After: 1`, then well',
    note: 'SMTP: `451` on the first try.',
    async run({ client, requests, accepted, cause }) {
      cause({ http: rateLimit('1'), smtp: { reply: '451 4.7.1 Try again later' } }, 1)
      const outcome = await observe(() => client.send(mail))
      const tries = `${count(requests(), 'try', 'tries')} in ${seconds(outcome.ms)}`
      return `${tries}, ${count(accepted(), 'mail')}; ${describe(outcome)}`
    },
  },
  {
    title: 'The connection is cut after the mail was taken',
    async run({ client, accepted, cause }) {
      cause(CUT, 1)
      const outcome = await observe(() => client.send(mail))
      return `${count(accepted(), 'mail')}; ${describe(outcome)}`
    },
  },
  {
    title: 'Status 200 with an HTML page',
    async run({ peer, client, cause }) {
      if (peer.protocol === 'smtp') return 'n/a: SMTP has no such answer'
      cause({ http: HTML })
      return describe(await observe(() => client.send(mail)))
    },
  },
  {
    title: 'A server that never answers, default settings',
    note: 'The run waits for 35 s.',
    async run({ client, cause }) {
      cause(HANG)
      const outcome = await observe(() => client.send(mail), 35_000)
      return outcome.kind === 'waiting'
        ? describe(outcome)
        : `${describe(outcome)} after ${seconds(outcome.ms)}`
    },
  },
  {
    title: 'The caller aborts after 0.1 s',
    async run({ peer, client, cause }) {
      if (!peer.takesSignal) return 'n/a: a send takes no signal'
      cause(HANG)
      const outcome = await observe(() => client.send(mail, AbortSignal.timeout(100)), 5_000)
      return `${describe(outcome)} after ${seconds(outcome.ms)}`
    },
  },
  {
    title: 'A recipient that is inactive (422, code 406)',
    note: 'SMTP: `550` to RCPT.',
    async run({ peer, client, cause }) {
      if (!hasResponse(peer)) return OWN_RESPONSE
      cause({ http: inactive, smtp: { rejects: INACTIVE } })
      const outcome = await observe(() => client.send({ ...mail, to: [INACTIVE] }))
      const error = errorOf(outcome)
      const code = field(field(error, 'provider'), 'code')
      const leaks = error instanceof Error && error.message.includes(INACTIVE)
      const more = [
        ...(code ? [`provider’s code ${code}`] : []),
        ...(field(error, 'hint') ? ['a hint what to do'] : []),
        `the address ${leaks ? 'is' : 'is not'} in the message`,
      ]
      return `${describe(outcome)}; ${more.join(', ')}`
    },
  },
  {
    title: 'One of two recipients is left out (200, in prose)',
    note: 'SMTP: `550` to the second RCPT.',
    async run({ peer, client, cause }) {
      if (!hasResponse(peer)) return OWN_RESPONSE
      cause({ http: { rejects: INACTIVE }, smtp: { rejects: INACTIVE } })
      const outcome = await observe(() => client.send({ ...mail, to: [...mail.to, INACTIVE] }))
      if (outcome.kind !== 'resolved') return describe(outcome)
      const rejected = field(outcome.value, 'rejected')
      return Array.isArray(rejected)
        ? `resolves; \`rejected: ${JSON.stringify(rejected)}\``
        : `resolves; in prose alone: “${field(outcome.value, 'Message')}”`
    },
  },
  {
    title: 'Seven failures: what a caller can tell',
    note: 'They are a closed port, 401, 422, 429 with `Retry-After: 60`, 500, a page with 200, a cut; SMTP: six of its own.',
    run: sevenFailures,
  },
]

async function sevenFailures({ peer, client, cause, close }: Stage): Promise<string> {
  const replies = ['535 5.7.8 No', '550 5.7.1 No', '451 4.7.1 Later', '554 5.3.0 Failed']
  const problems =
    peer.protocol === 'smtp'
      ? replies.map((reply) => ({ smtp: { reply } }))
      : [
          { http: refusal(401, 10, 'missing_api_key') },
          { http: refusal(422, 300, 'validation_error') },
          { http: rateLimit('60') },
          { http: refusal(500, 500, 'internal_server_error') },
          { http: HTML },
        ]
  const outcomes: Outcome[] = []
  for (const problem of [...problems, CUT]) {
    cause(problem)
    outcomes.push(await observe(() => client.send(mail)))
  }
  close()
  outcomes.push(await observe(() => client.send(mail)))
  const errors = outcomes.map(errorOf).filter(Boolean)
  const thrown = outcomes.flatMap((outcome) =>
    outcome.kind === 'rejected' ? [`\`${classOf(outcome.error)}\``] : [],
  )
  const whole = outcomes.length
  const sent = outcomes.filter(isSent).length
  const having = (...names: string[]) =>
    errors.filter((error) => names.some((name) => field(error, name) !== undefined)).length
  return [
    `${errors.length} of ${whole} seen as failures`,
    ...(sent > 0 ? [`${sent} taken for sent`] : []),
    thrown.length > 0 ? `thrown: ${[...new Set(thrown)].join(', ')}` : 'none thrown, all in `error`',
    `whether it may be repeated: ${having('retryable')} of ${whole}`,
    `whether the mail may have gone out: ${having('sent', 'effect')} of ${whole}`,
  ].join('; ')
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
