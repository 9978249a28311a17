/**
 * The mail provider: emulated, or the real one where the environment has its token.
 *
 * @module
 */
import { type Served, serve } from '@org/core/testing'
import { createMailProvider, type MailProvider } from '@org/mailer/testing'
import { type Environment, type Provider, SandboxError } from './environment.ts'

/** The mail provider that the host speaks to, and whom the walk writes to. */
export interface MailSetting {
  /** `undefined`: it is the real one. */
  emulator: MailProvider | undefined
  from: string
  to: string
  /** How many messages the walk sends in a batch. */
  batchSize: number
  /** The token of a tenant. */
  token: string
}

/** The provider takes what is sent there, counts it, and drops it. */
const BLACK_HOLE = 'test@blackhole.postmarkapp.com'
/** More than two calls of the provider hold. */
const EMULATED_BATCH = 1_203
const REAL_BATCH = 3

/**
 * Starts the mail provider.
 *
 * @throws {SandboxError} where it is the real one, and a sender is missing
 */
export async function startMail(environment: Environment, servers: Served[]): Promise<Provider<MailSetting>> {
  const realToken = environment.MAILER_SHARED_API_TOKEN?.trim()
  return realToken ? useReal(realToken, environment) : emulate(servers)
}

function useReal(token: string, environment: Environment): Provider<MailSetting> {
  const from = environment.MAILER_SHARED_FROM_EMAIL?.trim()
  if (!from) {
    throw new SandboxError(
      'MAILER_SHARED_API_TOKEN is set, so the walk uses the real mail provider: it also needs MAILER_SHARED_FROM_EMAIL, a sender that the provider has confirmed. (Without the token, the provider is emulated.)',
    )
  }
  const setting = { emulator: undefined, from, to: BLACK_HOLE, batchSize: REAL_BATCH, token }
  return { setting, variables: {}, secrets: [token] }
}

async function emulate(servers: Served[]): Promise<Provider<MailSetting>> {
  const token = crypto.randomUUID()
  const emulator = createMailProvider({ apiTokens: [token] })
  const server = await serve(emulator.fetch)
  servers.push(server)
  const from = 'Shop <shop@example.com>'
  return {
    setting: { emulator, from, to: 'ada@example.com', batchSize: EMULATED_BATCH, token },
    variables: {
      MAILER_SHARED_API_TOKEN: token,
      MAILER_SHARED_FROM_EMAIL: from,
      MAILER_API_BASE: server.url,
    },
    secrets: [token],
  }
}
