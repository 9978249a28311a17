import { createMailer } from '../../../packages/mailer/src/index.ts'
import { sentTwice } from '../checks.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, type ScenarioOptions } from '../run.ts'
import { startStaleProxy } from '../stale-proxy.ts'
import { createWorld } from '../world.ts'

/** A provider that closes idle connections just when they are used again. */
export const keepAlive = {
  name: 'keep-alive',
  shows: 'the provider closes idle connections at the moment of the next send: none is unknown',
  run: ({ seeds }: ScenarioOptions) => sendOverStale(seeds > 1 ? 200 : 40),
}

/** Sends mails one after another through such a provider, by a host and, to compare, by the client alone. */
export async function sendOverStale(sends: number): Promise<Findings> {
  const violations: string[] = []
  const compared = await createWorld()
  const behind = compared.environment('memory:').MAILER_API_BASE ?? ''
  const first = await startStaleProxy(behind)
  const client = createMailer({ apiToken: 'shared-token', baseUrl: first.url, fromEmail: 'shop@example.com' })
  let unknownToClient = 0
  for (let number = 0; number < sends; number += 1) {
    const message = { to: `${number}@example.org`, subject: 'Hello', textBody: 'Hello.' }
    await client.sendEmail(message).catch(() => {
      unknownToClient += 1
    })
  }
  // Otherwise the proxy does not do what it is for.
  if (unknownToClient === 0) violations.push('kept connections did not break')
  await first.close()
  await compared.close()

  const world = await createWorld()
  const proxy = await startStaleProxy(world.environment('').MAILER_API_BASE ?? '')
  try {
    return await arranged(
      { store: 'sqlite', hosts: 1, environment: { MAILER_API_BASE: proxy.url } },
      async ({ sender }) => {
        let unknown = 0
        for (let number = 0; number < sends; number += 1) {
          const { status, body } = await sender.once(sendEmail(`mail_${number}`))
          if (status !== 200) violations.push(`mail_${number}: ${status} ${JSON.stringify(body)}`)
          if (body.code === 'outcome_unknown') unknown += 1
        }
        violations.push(...sentTwice(world))
        const accepted = world.journal.of('mail accepted').length
        if (accepted !== sends) violations.push(`${accepted} of ${sends} mails were accepted`)
        return {
          figures: {
            sends,
            'unknown through the host': unknown,
            'connections that broke under the host': proxy.broken,
            'unknown by the same client over kept connections': unknownToClient,
          },
          violations,
        }
      },
    )
  } finally {
    await proxy.close()
    await world.close()
  }
}
