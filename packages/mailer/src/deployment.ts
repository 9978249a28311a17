/**
 * The life of a mailer deployment: it connects to a mail server.
 *
 * @module
 */
import { checkHealth, type Handlers } from '@org/core'
import { connect, fromInputs, type HostSettings, openMailer } from './connection.ts'
import type { mailer } from './integration.ts'

const LONGEST_NAME = 500

/** Makes the handlers of every event but FUNCTION_CALL. */
export function createDeploymentHandlers(settings: HostSettings) {
  return {
    /** Verifies the token, and publishes the connection. */
    async created(inputs, context) {
      const connection = fromInputs(inputs, settings)
      const server = await openMailer(connection, context, settings).getServer(context)
      // A server of a tenant's choice may say megabytes, and a log line is searched for secrets as a whole.
      context.log.info(`Connected to the mail server “${server.name.slice(0, LONGEST_NAME)}”.`, {
        serverType: inputs.serverType,
      })
      if (server.deliveryType === 'Sandbox')
        context.log.warn('The mail server is a sandbox: it accepts mail, but delivers none.')
      if (connection.fromEmail === undefined)
        context.log.warn(
          'No fromEmail is configured: every message needs its own from. Statistics are available.',
        )
      const { apiToken, fromEmail, baseUrl, messageStream } = connection
      return { apiToken, apiUrl: baseUrl, messageStream, ...(fromEmail === undefined ? {} : { fromEmail }) }
    },

    /** The provider holds nothing that must be deleted. */
    async deleted(context) {
      context.log.info('The deployment is disconnected from the mail server.')
    },

    /** Reads the mail server with the deployment’s token. */
    async health(context) {
      const probe = async () => (await connect(context, settings)).getServer(context)
      return [await checkHealth('provider', probe)]
    },

    /** Reads the provider’s totals of outbound mail. */
    async metrics(context) {
      const stats = await (await connect(context, settings)).getDeliveryStats({}, context)
      return {
        emails_sent: stats.sent,
        emails_bounced: stats.bounced,
        bounce_rate: stats.bounceRate,
        spam_complaints: stats.spamComplaints,
      }
    },
  } satisfies Omit<Handlers<typeof mailer>, 'functions'>
}
