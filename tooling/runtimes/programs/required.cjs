const { createMailer, IntegrationError, isIntegrationError } = require('@org/mailer')
const { createMailProvider } = require('@org/mailer/testing')

/** Sends a mail to the emulator, and fails to send another one. */
exports.sendRequired = async () => {
  const provider = createMailProvider()
  const options = { apiToken: 'server-token', fromEmail: 'shop@example.com', fetch: provider.fetch }
  const mailer = createMailer(options)
  const message = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' }
  await mailer.sendEmail(message)
  const error = await mailer.sendEmail({ ...message, to: 'nobody' }).catch((reason) => reason)
  const isKnown = isIntegrationError(error) && error instanceof IntegrationError
  return { sent: provider.messages.length, code: error.code, isKnown, error }
}

if (require.main === module)
  exports.sendRequired().then(({ sent, code, isKnown }) => {
    if (sent !== 1 || code !== 'invalid_arguments' || !isKnown)
      throw new Error(`${sent} sent, ${code}, ${isKnown}`)
  })
