import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { sentTwice, tally, timesSent } from '../checks.ts'
import { addressOf, sendEmail } from '../events.ts'
import { type Arrangement, arranged, type Findings } from '../run.ts'

/** What can happen to a send, and whether it may be told what came of it. */
const outcomes: readonly [string, Fault][] = [
  ['cut before the provider took it', { cut: 'before' }],
  ['cut after the provider took it', { cut: 'after' }],
  ['cut during the answer', { cut: 'during' }],
  ['no answer in time, and nothing sent', { hang: true }],
  ['no answer in time, and the mail is out', { hang: 'after' }],
  ['408', { status: 408 }],
  ['500', { status: 500 }],
  ['500, and the mail is out', { status: 500, takesEffect: true }],
  ['502', { status: 502 }],
  ['502, and the mail is out', { status: 502, takesEffect: true }],
  ['503 with a time to wait', { status: 503, headers: { 'retry-after': '5' } }],
  ['504, and the mail is out', { status: 504, takesEffect: true }],
  ['a page with 200', { html: true }],
  ['nothing with 200', { empty: true }],
  ['half an answer', { truncate: true }],
  ['an answer to something else', { status: 200, body: { hello: 'world' } }],
  ['success without an id', { status: 200, body: { ErrorCode: 0 }, takesEffect: true }],
  ['an answer without an end', { status: 200, body: ' '.repeat(1_100_000), takesEffect: true }],
]

/** Sends of which nobody can know whether they happened. */
export const ambiguous = {
  name: 'ambiguous',
  shows: `${outcomes.length} ambiguous outcomes of a send, and redeliveries to another host: never a second send`,
  run: () =>
    arranged({ store: 'redis', hosts: 2, environment: { REQUEST_TIMEOUT_MS: '1000' } }, sendAmbiguously),
}

/** Sends a mail into each of the outcomes, and delivers it again, to the other host too. */
export async function sendAmbiguously(arrangement: Arrangement): Promise<Findings> {
  const { sender, mail, journal } = arrangement
  const violations: string[] = []
  let accepted = 0
  for (const [number, [what, fault]] of outcomes.entries()) {
    const id = `mail_${number}`
    mail.faults.add({ path: '/email', ...fault })
    const answers = []
    for (const host of [0, 0, 1])
      answers.push(await sender.once(sendEmail(id), host % arrangement.hosts.length))
    mail.faults.clear()
    accepted += timesSent(arrangement).get(addressOf(id)) ?? 0
    const [first, ...again] = answers
    if (first?.status !== 409 || first.body.code !== 'outcome_unknown')
      violations.push(`${what}: answered ${first?.status} ${JSON.stringify(first?.body)}`)
    for (const { status, body, replayed } of again) {
      if (status !== 409 || !replayed || JSON.stringify(body) !== JSON.stringify(first?.body))
        violations.push(`${what}: a redelivery was answered ${status} ${JSON.stringify(body)}`)
    }
  }
  const calls = mail.calls.length
  if (calls !== outcomes.length) violations.push(`${calls} calls were made for ${outcomes.length} mails`)
  violations.push(...sentTwice(arrangement))
  const statuses = tally(journal.of('answer'), ({ status, code }) => `${status} ${code}`)
  return {
    figures: { outcomes: outcomes.length, calls, 'mails accepted': accepted, answers: statuses },
    violations,
  }
}
