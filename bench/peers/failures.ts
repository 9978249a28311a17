/** How each SDK behaves when a send fails: one row for each failure. */
import type { Fault } from '@org/core/testing'
import { type HttpProvider, startHttpProvider } from './http-provider.ts'
import type { ComparedRow, Installed } from './install.ts'
import { classOf, describe, errorOf, field, isSent, type Outcome, observe, seconds } from './outcome.ts'
import type { Client, Mail, Peer } from './peers.ts'

interface Stage extends HttpProvider {
  peer: Peer
  client: Client
}

const mail: Mail = { from: 'shop@example.com', to: ['ada@example.org'], subject: 'Hello', text: 'Hi Ada' }
const INACTIVE = 'bob@example.org'
const CUT: Fault = { cut: 'after' }
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
const refusal = (status: number, code: number, name: string, headers = {}): Fault => ({
  status,
  headers,
  body: { ErrorCode: code, Message: 'No', message: 'No', name, statusCode: status, errors: [] },
})
const rateLimit = (retryAfter: string) =>
  refusal(429, 429, 'rate_limit_exceeded', { 'retry-after': retryAfter })

/** A cell for an SDK whose provider never responds so. */
const OWN_RESPONSE = 'n/a: its provider has no such response'
const hasResponse = ({ name }: Peer) => name === '@org/mailer' || name === 'postmark'

export async function failureRows(installed: readonly Installed[]): Promise<ComparedRow[]> {
  const rows: ComparedRow[] = []
  for (const { title, note, run } of failures) {
    const cells = installed.map(async ({ peer, project }) => {
      const provider = await startHttpProvider()
      const stage = { ...provider, peer, client: peer.connect(project, provider.port) }
      return run(stage).finally(provider.close)
    })
    rows.push({ title, note, cells: await Promise.all(cells) })
  }
  return rows
}

const failures: readonly { title: string; note?: string; run: (stage: Stage) => Promise<string> }[] = [
  {
    title: '600 messages in one call',
    async run({ client, requests, accepted }) {
      const mails = Array.from({ length: 600 }, (_, at) => ({ ...mail, to: [`person-${at}@example.org`] }))
      const outcome = await observe(() => client.sendMany(mails))
      const results = outcome.kind === 'resolved' ? field(outcome.value, 'results') : undefined
      const description = Array.isArray(results)
        ? `resolves with ${results.length} results in order`
        : describe(outcome)
      return `${count(requests(), 'request')}, ${count(accepted(), 'mail')}; ${description}`
    },
  },
  {
    title: '429 with `Retry-After: 1`, then success',
    async run({ client, requests, accepted, cause }) {
      cause(rateLimit('1'), 1)
      const outcome = await observe(() => client.send(mail))
      const attempts = `${count(requests(), 'attempt')} in ${seconds(outcome.ms)}`
      return `${attempts}, ${count(accepted(), 'mail')}; ${describe(outcome)}`
    },
  },
  {
    title: 'The connection is cut after the provider accepted the mail',
    async run({ client, accepted, cause }) {
      cause(CUT, 1)
      const outcome = await observe(() => client.send(mail))
      return `${count(accepted(), 'mail')}; ${describe(outcome)}`
    },
  },
  {
    title: 'Status 200 with an HTML page',
    async run({ client, cause }) {
      cause(HTML)
      return describe(await observe(() => client.send(mail)))
    },
  },
  {
    title: 'A server that never responds, default settings',
    note: 'The run waits for 35 s.',
    async run({ client, cause }) {
      cause({ hang: true })
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
      cause({ hang: true })
      const outcome = await observe(() => client.send(mail, AbortSignal.timeout(100)), 5_000)
      return `${describe(outcome)} after ${seconds(outcome.ms)}`
    },
  },
  {
    title: 'An inactive recipient (422, code 406)',
    async run({ peer, client, cause }) {
      if (!hasResponse(peer)) return OWN_RESPONSE
      cause(inactive)
      const outcome = await observe(() => client.send({ ...mail, to: [INACTIVE] }))
      const error = errorOf(outcome)
      const code = field(field(error, 'provider'), 'code')
      const leaks = error instanceof Error && error.message.includes(INACTIVE)
      return [
        describe(outcome),
        ...(code ? [`provider’s code ${code}`] : []),
        ...(field(error, 'hint') ? ['a hint'] : []),
        `the address ${leaks ? 'is' : 'is not'} in the message`,
      ].join('; ')
    },
  },
  {
    title: 'One of two recipients is left out (200, in prose)',
    async run({ peer, client, cause }) {
      if (!hasResponse(peer)) return OWN_RESPONSE
      cause({ rejects: INACTIVE })
      const outcome = await observe(() => client.send({ ...mail, to: [...mail.to, INACTIVE] }))
      if (outcome.kind !== 'resolved') return describe(outcome)
      const rejected = field(outcome.value, 'rejected')
      return Array.isArray(rejected)
        ? `resolves; \`rejected: ${JSON.stringify(rejected)}\``
        : `resolves; in prose alone: “${field(outcome.value, 'Message')}”`
    },
  },
  {
    title: 'Seven failures, seen by the caller',
    note: 'A closed port, 401, 422, 429 with `Retry-After: 60`, 500, a page with 200, and a cut.',
    run: sevenFailures,
  },
]

async function sevenFailures({ client, cause, close }: Stage): Promise<string> {
  const outcomes: Outcome[] = []
  for (const fault of [
    refusal(401, 10, 'missing_api_key'),
    refusal(422, 300, 'validation_error'),
    rateLimit('60'),
    refusal(500, 500, 'internal_server_error'),
    HTML,
    CUT,
  ]) {
    cause(fault)
    outcomes.push(await observe(() => client.send(mail)))
  }
  close()
  outcomes.push(await observe(() => client.send(mail)))
  const errors = outcomes.map(errorOf).filter(Boolean)
  const thrown = outcomes.flatMap((outcome) =>
    outcome.kind === 'rejected' ? [`\`${classOf(outcome.error)}\``] : [],
  )
  const sent = outcomes.filter(isSent).length
  const having = (name: string) => errors.filter((error) => field(error, name) !== undefined).length
  return [
    `${errors.length} of 7 seen as failures`,
    ...(sent > 0 ? [`${sent} taken for sent`] : []),
    thrown.length > 0 ? `thrown: ${[...new Set(thrown)].join(', ')}` : 'none thrown, all in `error`',
    `says whether a retry is safe: ${having('retryable')} of 7`,
    `says whether the mail may be sent: ${having('effect')} of 7`,
  ].join('; ')
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
