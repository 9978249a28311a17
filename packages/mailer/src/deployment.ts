import { checkHealth, type HandlerContext, type Inputs, type Outputs } from '@org/core'
import { callOptions, connect, fromInputs, type MailerSettings, openMailer } from './connection.ts'
import type { mailer } from './integration.ts'

type Context = HandlerContext<MailerSettings>

/** DEPLOYMENT_CREATED: verifies the token, and publishes the connection. */
export async function created(
  inputs: Inputs<typeof mailer>,
  context: Context,
): Promise<Outputs<typeof mailer>> {
  const connection = fromInputs(inputs, context.settings)
  const server = await openMailer(connection, context).getServer(callOptions(context))
  context.log.info(`Connected to the mail server “${server.name}”.`, { serverType: inputs.serverType })
  if (server.deliveryType === 'Sandbox') {
    context.log.warn('The mail server is a sandbox: it accepts mail, but delivers none.')
  }
  if (connection.fromEmail === undefined) {
    context.log.warn(
      'No fromEmail is configured: every message needs its own from. Statistics are available.',
    )
  }
  const { apiToken, fromEmail, baseUrl, messageStream } = connection
  return { apiToken, apiUrl: baseUrl, messageStream, ...(fromEmail === undefined ? {} : { fromEmail }) }
}

/** DEPLOYMENT_DELETED: the provider holds nothing that must be deleted. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The deployment is disconnected from the mail server.')
}

/** HEALTH_CHECK: reads the mail server with the deployment’s token. */
export async function health(context: Context) {
  const probe = async () => (await connect(context)).getServer(callOptions(context))
  return [await checkHealth('provider', probe)]
}

/** METRIC_UPDATE: reads the provider’s totals of outbound mail. */
export async function metrics(context: Context) {
  const stats = await (await connect(context)).getDeliveryStats({}, callOptions(context))
  return {
    emails_sent: stats.sent,
    emails_bounced: stats.bounced,
    bounce_rate: stats.bounceRate,
    spam_complaints: stats.spamComplaints,
  }
}
