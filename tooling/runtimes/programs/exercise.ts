/**
 * The program that every runtime runs and every compiler checks: it sends a mail, and handles a signed event.
 *
 * @module
 */
import type { DeploymentStatus } from '@org/core'
import type { Message } from '@org/mailer'

export interface Modules {
  core: typeof import('@org/core')
  mailer: typeof import('@org/mailer')
  webhook: typeof import('@org/mailer/webhook')
  platformClient: typeof import('@org/platform-client')
}

export type Addresses = Record<'mailUrl' | 'platformUrl', string>

const secret = `whsec_${btoa('a secret of twenty-four b')}`
const deployed: DeploymentStatus = 'running'

export async function exercise(modules: Modules, { mailUrl, platformUrl }: Addresses) {
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
  const response = await deliver({ ...(await sign({ secret, id: 'evt_1', body })) })
  const refused = await deliver({})
  return { messageId, status: response.status, body: await response.json(), refused: refused.status, error }
}
