import { createMailer } from '../../../packages/mailer/src/index.ts'
import { quote, sentTwice } from '../checks.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario } from '../run.ts'
import { startStaleProxy } from '../stale-proxy.ts'

export const keepAlive: Scenario = {
  name: 'keep-alive',
  shows: 'the provider closes idle connections at the moment of the next send: none is unknown',
  run: ({ seeds }) => sendOverStale(seeds > 1 ? 200 : 40),
}

/** Sends mails one after another to such a provider, with the client alone and through a host. */
export async function sendOverStale(sends: number): Promise<Findings> {
  const proxy = await startStaleProxy()
  const environment = { MAILER_API_BASE: proxy.url }
  return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
    proxy.target = world.variables.MAILER_API_BASE
    const violations: string[] = []
    const client = createMailer({
      apiToken: 'shared-token',
      baseUrl: proxy.url,
      fromEmail: 'shop@example.com',
    })
    let unknownToClient = 0
    for (let number = 0; number < sends; number += 1) {
      const message = { to: `${number}@example.org`, subject: 'Hello', textBody: 'Hello.' }
      await client.sendEmail(message).catch(() => {
        unknownToClient += 1
      })
    }
    // The client keeps its connections, so some of its sends must break.
    if (unknownToClient === 0) violations.push('no kept connection broke')

    const brokenBefore = proxy.broken
    const acceptedBefore = world.journal.of('mail accepted').length
    let unknown = 0
    for (let number = 0; number < sends; number += 1) {
      const received = await world.sender.once(sendEmail(`mail_${number}`))
      if (received.status !== 200) violations.push(`mail_${number}: ${quote(received)}`)
      if (received.body.code === 'outcome_unknown') unknown += 1
    }
    violations.push(...sentTwice(world))
    const accepted = world.journal.of('mail accepted').length - acceptedBefore
    if (accepted !== sends) violations.push(`the provider accepted ${accepted} of ${sends} mails`)
    return {
      figures: {
        sends,
        'unknown through the host': unknown,
        'connections that broke under the host': proxy.broken - brokenBefore,
        'unknown by the same client over kept connections': unknownToClient,
      },
      violations,
    }
  }).finally(proxy.close)
}
