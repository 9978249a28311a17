/** The emulated providers. */
import { type Served, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { createSamples } from '@org/server/samples'

/** The user that the examples of the contract name. */
const SEEDED = { id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d', first_name: 'Sam', email_address: ['sam@example.com'] }

/**
 * Starts the providers.
 * @param servers collects the started servers
 * @returns the providers, the variables with which the host calls them, and the secrets that must never be printed
 */
export async function startProviders(servers: Pick<Served, 'close'>[]) {
  const start = async (provider: { fetch: typeof fetch }) => {
    const server = await serve(provider.fetch)
    servers.push(server)
    return server.url
  }
  const token = crypto.randomUUID()
  const mail = createMailProvider({ apiTokens: [token] })
  const mailUrl = await start(mail)
  const accessToken = crypto.randomUUID()
  const identity = createPlatformApi({ accessTokens: [accessToken] })
  const identityUrl = await start(identity)
  /** The shared application, to which `/idp` attaches. */
  const { instance } = identity.backend
  const variables: Record<string, string> = {
    MAILER_SHARED_API_TOKEN: token,
    MAILER_SHARED_FROM_EMAIL: 'Shop <shop@example.com>',
    MAILER_API_BASE: mailUrl,
    IDP_SHARED_PUBLISHABLE_KEY: instance.publishableKey,
    IDP_SHARED_SECRET_KEY: instance.secretKey,
    IDP_API_BASE: `${identityUrl}/v1`,
    IDP_PLATFORM_API_KEY: accessToken,
    IDP_PLATFORM_API_BASE: `${identityUrl}/v1`,
  }
  const samples = await createSamples()
  for (const sample of samples) {
    Object.assign(variables, sample.variables(await start(sample.provider)))
    sample.prepare?.()
  }
  /** Every instance at the identity provider. */
  const instances = () => [instance, ...[...identity.applications.values()].flatMap((one) => one.instances)]
  return {
    mail,
    mailUrl,
    identity,
    identityUrl,
    instances,
    samples,
    variables,
    secrets: [token, instance.secretKey, accessToken, ...samples.flatMap(({ credentials }) => credentials)],
    /** Gives every instance the user of the examples. */
    seed(): void {
      for (const one of instances()) if (one.users.size === 0) one.createUser(SEEDED)
    },
    reset(): void {
      for (const emulator of [mail, identity, ...samples.map(({ provider }) => provider)]) emulator.reset()
      for (const { prepare } of samples) prepare?.()
      this.seed()
    },
  }
}
