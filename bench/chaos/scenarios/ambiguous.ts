import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { quote, sentTwice, statusAndCode, tally, timesSent } from '../checks.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'

/** Failures of a send after which nobody can know whether the mail was sent. */
const outcomes: readonly [string, Fault][] = [
  ['cut before the provider accepted it', { cut: 'before' }],
  ['cut after the provider accepted it', { cut: 'after' }],
  ['cut during the response', { cut: 'during' }],
  ['no response in time, and nothing sent', { hang: true }],
  ['no response in time, and the mail is sent', { hang: 'after' }],
  ['408', { status: 408 }],
  ['500', { status: 500 }],
  ['500, and the mail is sent', { status: 500, takesEffect: true }],
  ['502', { status: 502 }],
  ['502, and the mail is sent', { status: 502, takesEffect: true }],
  ['503 with Retry-After', { status: 503, headers: { 'retry-after': '5' } }],
  ['504, and the mail is sent', { status: 504, takesEffect: true }],
  ['an HTML page with 200', { html: true }],
  ['an empty body with 200', { empty: true }],
  ['half a response', { truncate: true }],
  ['another response', { status: 200, body: { hello: 'world' } }],
  ['success without an id', { status: 200, body: { ErrorCode: 0 }, takesEffect: true }],
  ['a body of 1 MB', { status: 200, body: ' '.repeat(1_100_000), takesEffect: true }],
]

export const ambiguous: Scenario = {
  name: 'ambiguous',
  shows: `${outcomes.length} ambiguous outcomes of a send, and redeliveries to another host: never a second send`,
  run: () =>
    arranged({ store: 'redis', hosts: 2, environment: { REQUEST_TIMEOUT_MS: '1000' } }, sendAmbiguously),
}

export async function sendAmbiguously(world: World): Promise<Findings> {
  const { sender, mail, journal, hosts } = world
  const violations: string[] = []
  let accepted = 0
  for (const [number, [what, fault]] of outcomes.entries()) {
    const delivery = sendEmail(`mail_${number}`)
    mail.faults.add({ path: '/email', ...fault })
    const first = await sender.once(delivery, 0)
    if (first.status !== 409 || first.body.code !== 'outcome_unknown')
      violations.push(`${what}: the response was ${quote(first)}`)
    for (const host of [0, 1]) {
      const again = await sender.once(delivery, host % hosts.length)
      if (!again.replayed || quote(again) !== quote(first))
        violations.push(`${what}: a redelivery got ${quote(again)}`)
    }
    mail.faults.clear()
    accepted += timesSent(world, delivery.id)
  }
  const calls = mail.calls.length
  if (calls !== outcomes.length) violations.push(`${calls} calls were made for ${outcomes.length} mails`)
  violations.push(...sentTwice(world))
  const responses = tally(journal.of('response'), statusAndCode)
  return {
    figures: { outcomes: outcomes.length, calls, 'mails accepted': accepted, responses },
    violations,
  }
}
