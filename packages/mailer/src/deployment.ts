/**
 * The life of a mailer deployment: it connects to the provider, and tears nothing down.
 *
 * @module
 */
import { checkHealth, type HandlerContext, type Inputs, type Outputs } from '@org/core'
import { callOptions, connect, fromInputs, type MailerSettings, openMailer } from './connection.ts'
import type { mailer } from './integration.ts'

type Context = HandlerContext<MailerSettings>

/** DEPLOYMENT_CREATED: resolves the token, verifies it, and publishes what others need to send. */
export async function created(
  inputs: Inputs<typeof mailer>,
  context: Context,
): Promise<Outputs<typeof mailer>> {
  const connection = fromInputs(inputs, context.settings)
  const server = await openMailer(connection, context).getServer(callOptions(context))
  context.log.info(`Connected to the mail server “${server.name}”.`, { serverType: inputs.serverType })
  if (server.deliveryType === 'Sandbox') {
    context.log.warn('The mail server is a sandbox: it accepts mail, and delivers none.')
  }
  if (connection.fromEmail === undefined) {
    context.log.warn(
      'No fromEmail is configured: every message needs a from of its own. Statistics are available.',
    )
  }
  const { apiToken, fromEmail, baseUrl, messageStream } = connection
  return { apiToken, apiUrl: baseUrl, messageStream, ...(fromEmail === undefined ? {} : { fromEmail }) }
}

/** DEPLOYMENT_DELETED: nothing external exists that could be torn down. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The connection to the mail server is no longer tracked.')
}

/** HEALTH_CHECK: asks for the mail server with the configured token. */
export async function health(context: Context) {
  const probe = async () => (await connect(context)).getServer(callOptions(context))
  return [await checkHealth('provider', probe)]
}

/** METRIC_UPDATE: the provider's totals of outbound mail. */
export async function metrics(context: Context) {
  const stats = await (await connect(context)).getDeliveryStats({}, callOptions(context))
  return {
    emails_sent: stats.sent,
    emails_bounced: stats.bounced,
    bounce_rate: stats.bounceRate,
    spam_complaints: stats.spamComplaints,
  }
}
