/**
 * What the SDKs do when something goes wrong: one row for each way, run and not read.
 *
 * @module
 */
import { type Mood, type Provider, startHttpProvider } from './http-provider.ts'
import type { Installed } from './install.ts'
import { classOf, describe, field, isFailure, isSent, type Outcome, observe, seconds } from './outcome.ts'
import type { Client, Mail, Peer } from './peers.ts'
import type { Row } from './row.ts'
import { startSmtpProvider } from './smtp-provider.ts'

/** An SDK with a server of its own. */
interface Stage {
  peer: Peer
  client: Client
  provider: Provider
}

const mail: Mail = { from: 'shop@example.com', to: ['ada@example.org'], subject: 'Hello', text: 'Hi Ada' }
const pair: Mail = { ...mail, to: ['ada@example.org', 'bob@example.org'] }
const json = (status: number, body: unknown, headers: Record<string, string> = {}): Mood => ({
  kind: 'answer',
  status,
  headers,
  body: JSON.stringify(body),
})
const page: Mood = {
  kind: 'answer',
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Please sign in</title>',
}
const smtp = (line: string): Mood => ({ kind: 'answer', status: 0, body: line })
const inactive = json(422, {
  ErrorCode: 406,
  Message:
    'You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: bob@example.org. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.',
})
const speaksPostmark = ({ name }: Peer) => name === '@org/mailer' || name === 'postmark'
const OWN_ANSWER = 'n/a: its provider has no such answer'
const NOT_HTTP = 'n/a: SMTP has no such answer'

/** Runs every row of failures for all SDKs. */
export async function failureRows(installed: readonly Installed[]): Promise<Row[]> {
  const stage = async ({ peer, project }: Installed): Promise<Stage> => {
    const provider = await (peer.protocol === 'smtp' ? startSmtpProvider() : startHttpProvider())
    return { peer, provider, client: peer.connect(project, provider.port) }
  }
  async function row(title: string, cell: (stage: Stage) => Promise<string>, note?: string): Promise<Row> {
    const cells = await Promise.all(
      installed.map(async (sdk) => {
        const set = await stage(sdk)
        const text = await cell(set)
        set.provider.close()
        return text
      }),
    )
    return { title, cells, note }
  }
  return [
    await row('600 messages in one call', manyAtOnce),
    await row('429 with `Retry-After: 1`, then well', rateLimited, 'SMTP: `451` on the first try.'),
    await row('The connection is cut after the mail was taken', cutAfter),
    await row('Status 200 with an HTML page', htmlPage),
    await row('A server that never answers, default settings', hang, 'Bound: 35 s.'),
    await row('The caller aborts after 0.1 s', abort),
    await row('A recipient that is inactive (422, code 406)', refusedRecipient, 'SMTP: `550` to RCPT.'),
    await row('One of two recipients is left out (200, in prose)', partly, 'SMTP: `550` to the second RCPT.'),
    await row(
      'Seven failures: what a caller can tell',
      sevenFailures,
      `They are ${sevenNames}; SMTP: six of its own.`,
    ),
  ]
}

async function manyAtOnce({ client, provider }: Stage): Promise<string> {
  if (!client.sendMany) return 'n/a: it has no call for many mails'
  const mails = Array.from({ length: 600 }, (_, index) => ({ ...mail, to: [`person-${index}@example.org`] }))
  const { sendMany } = client
  const outcome = await observe(() => sendMany(mails))
  const results = field(outcome.kind === 'resolved' ? outcome.value : undefined, 'results')
  const told = Array.isArray(results)
    ? `resolves with ${results.length} results in order`
    : outcome.kind === 'resolved' && Array.isArray(outcome.value)
      ? `resolves with ${outcome.value.length} answers`
      : describe(outcome)
  return `${count(provider.requests, 'request')}, ${count(provider.accepted, 'mail')}; ${told}`
}

async function rateLimited({ peer, client, provider }: Stage): Promise<string> {
  const slow = json(
    429,
    { ErrorCode: 429, message: 'Slow down', name: 'rate_limit_exceeded', statusCode: 429 },
    { 'retry-after': '1' },
  )
  provider.become(peer.protocol === 'smtp' ? smtp('451 4.7.1 Try again later') : slow, 1)
  const outcome = await observe(() => client.send(mail))
  const tries = `${count(provider.requests, 'try', 'tries')} in ${seconds(outcome.ms)}, ${count(provider.accepted, 'mail')}`
  return `${tries}; ${describe(outcome)}`
}

async function cutAfter({ client, provider }: Stage): Promise<string> {
  provider.become({ kind: 'cut' }, 1)
  const outcome = await observe(() => client.send(mail))
  return `${count(provider.accepted, 'mail')}; ${describe(outcome)}`
}

async function htmlPage({ peer, client, provider }: Stage): Promise<string> {
  if (peer.protocol === 'smtp') return NOT_HTTP
  provider.become(page)
  return describe(await observe(() => client.send(mail)))
}

async function hang({ client, provider }: Stage): Promise<string> {
  provider.become({ kind: 'hang' })
  const outcome = await observe(() => client.send(mail), 35_000)
  return outcome.kind === 'waiting' ? describe(outcome) : `${describe(outcome)} after ${seconds(outcome.ms)}`
}

async function abort({ peer, client, provider }: Stage): Promise<string> {
  if (!peer.takesSignal) return 'n/a: a send takes no signal'
  provider.become({ kind: 'hang' })
  const outcome = await observe(() => client.send(mail, AbortSignal.timeout(100)), 5_000)
  return `${describe(outcome)} after ${seconds(outcome.ms)}`
}

async function refusedRecipient({ peer, client, provider }: Stage): Promise<string> {
  if (peer.protocol === 'http' && !speaksPostmark(peer)) return OWN_ANSWER
  provider.become(peer.protocol === 'smtp' ? { kind: 'left-out', address: 'bob@example.org' } : inactive)
  const outcome = await observe(() => client.send({ ...mail, to: ['bob@example.org'] }))
  const error = outcome.kind === 'rejected' ? outcome.error : undefined
  const code = field(field(error, 'provider'), 'code')
  const leaks = error instanceof Error && error.message.includes('bob@example.org')
  const more = [
    ...(code ? [`provider’s code ${code}`] : []),
    ...(field(error, 'hint') ? ['a hint what to do'] : []),
    `the address ${leaks ? 'is' : 'is not'} in the message`,
  ]
  return `${describe(outcome)}; ${more.join(', ')}`
}

async function partly({ peer, client, provider }: Stage): Promise<string> {
  if (peer.protocol === 'http' && !speaksPostmark(peer)) return OWN_ANSWER
  provider.become({ kind: 'left-out', address: 'bob@example.org' })
  const outcome = await observe(() => client.send(pair))
  if (outcome.kind !== 'resolved') return describe(outcome)
  const rejected = field(outcome.value, 'rejected')
  return Array.isArray(rejected)
    ? `resolves; \`rejected: ${JSON.stringify(rejected)}\``
    : `resolves; in prose alone: “${field(outcome.value, 'Message')}”`
}

const sevenNames = 'a closed port, 401, 422, 429 with `Retry-After: 60`, 500, a page with 200, a cut'

async function sevenFailures({ peer, client, provider }: Stage): Promise<string> {
  const moods: Mood[] =
    peer.protocol === 'smtp'
      ? ['535 5.7.8 No', '550 5.7.1 No', '451 4.7.1 Later', '554 5.3.0 Failed'].map(smtp)
      : [
          json(401, {
            ErrorCode: 10,
            Message: 'No',
            message: 'No',
            name: 'missing_api_key',
            statusCode: 401,
            errors: [],
          }),
          json(422, {
            ErrorCode: 300,
            Message: 'No',
            message: 'No',
            name: 'validation_error',
            statusCode: 422,
            errors: [],
          }),
          json(
            429,
            {
              ErrorCode: 429,
              Message: 'Slow down',
              message: 'Slow down',
              name: 'rate_limit_exceeded',
              statusCode: 429,
              errors: [],
            },
            { 'retry-after': '60' },
          ),
          json(500, {
            ErrorCode: 500,
            Message: 'Oops',
            message: 'Oops',
            name: 'internal_server_error',
            statusCode: 500,
            errors: [],
          }),
          page,
        ]
  const outcomes: Outcome[] = []
  for (const mood of [...moods, { kind: 'cut' } as const]) {
    provider.become(mood)
    outcomes.push(await observe(() => client.send(mail)))
  }
  provider.close()
  outcomes.push(await observe(() => client.send(mail)))
  const seen = outcomes.filter(isFailure).length
  const classes = new Set(
    outcomes.flatMap((outcome) => (outcome.kind === 'rejected' ? [classOf(outcome.error)] : [])),
  )
  const errors = outcomes.map((outcome) =>
    outcome.kind === 'rejected'
      ? outcome.error
      : field(outcome.kind === 'resolved' && outcome.value, 'error'),
  )
  const told = (name: string) => errors.filter((error) => field(error, name) !== undefined).length
  const whole = outcomes.length
  const parts = [
    `${seen} of ${whole} seen as failures`,
    ...(outcomes.some(isSent) ? [`${outcomes.filter(isSent).length} taken for sent`] : []),
    classes.size > 0
      ? `thrown: ${[...classes].map((name) => `\`${name}\``).join(', ')}`
      : 'none thrown, all in `error`',
    `whether it may be repeated: ${told('retryable')} of ${whole}`,
    `whether the mail may have gone out: ${told('sent')} of ${whole}`,
  ]
  return parts.join('; ')
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
