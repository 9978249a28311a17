/**
 * What every runtime is asked to do with the packages as they are published: send a mail, and answer a signed event.
 * It is also what consumers' compilers check.
 *
 * @module
 */
import type { DeploymentStatus } from '@org/core'
import type { Message } from '@org/mailer'

/** The packages, however the program got them. */
export interface Modules {
  core: typeof import('@org/core')
  mailer: typeof import('@org/mailer')
  webhook: typeof import('@org/mailer/webhook')
  platformClient: typeof import('@org/platform-client')
}

/** Where the emulators of the parent process listen. */
export interface Addresses {
  mailUrl: string
  platformUrl: string
}

/** What came of it. */
export interface Outcome {
  messageId: string
  /** The status and body of the signed event. */
  answered: { status: number; body: unknown }
  /** The status of the same event without a signature. */
  refused: number
  /** The error of a message that can't be sent. */
  error: string | undefined
}

const secret = `whsec_${btoa('a secret of twenty-four b')}`
const deployed: DeploymentStatus = 'running'

export async function exercise(modules: Modules, { mailUrl, platformUrl }: Addresses): Promise<Outcome> {
  const { createVerifier, sign } = modules.core
  const { createMailer, isIntegrationError } = modules.mailer
  const apiToken = 'server-token'
  const mailer = createMailer({ apiToken, fromEmail: 'shop@example.com', baseUrl: mailUrl })

  const message: Message = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' }
  const { messageId } = await mailer.sendEmail(message)
  const error = await mailer.sendEmail({ ...message, to: 'nobody' }).then(
    () => undefined,
    (reason: unknown) => (isIntegrationError(reason) ? reason.code : String(reason)),
  )

  const platform = modules.platformClient.createPlatformClient({ baseUrl: platformUrl })
  await platform.setStatus('dep_1', { status: deployed })
  const handle = modules.webhook.createHandler({
    platform,
    shared: { apiToken, fromEmail: 'shop@example.com' },
    baseUrl: mailUrl,
    verify: createVerifier({ secrets: [secret] }),
    logger: () => {},
  })
  const body = JSON.stringify({
    name: 'FUNCTION_CALL',
    functionCall: { name: 'sendEmail', arguments: { ...message, subject: 'From an event' } },
  })
  const deliver = (signature: Record<string, string>) => {
    const headers = { 'content-type': 'application/json', ...signature }
    return handle(new Request('http://host.test/mailer/webhook', { method: 'POST', headers, body }))
  }
  const answer = await deliver({ ...(await sign({ secret, id: 'evt_1', body })) })
  const refused = await deliver({})

  return {
    messageId,
    answered: { status: answer.status, body: await answer.json() },
    refused: refused.status,
    error,
  }
}
