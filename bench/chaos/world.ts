/**
 * Everything outside the hosts: the mail provider, the identity provider and the platform as emulators in this
 * process, each call of which can be watched, held up or made the moment at which a host dies.
 *
 * @module
 */
import {
  createPlatformEmulator,
  type PlatformEmulator,
  type Served,
  serve,
} from '../../packages/core/src/testing/index.ts'
import { createPlatformApi, type PlatformApi } from '../../packages/idp-server/src/testing/index.ts'
import { createMailProvider, type MailProvider } from '../../packages/mailer/src/testing/index.ts'
import { createJournal, type Journal } from './journal.ts'

/** One call that a host makes, before it takes effect and after. */
interface Step {
  to: 'mail' | 'idp' | 'platform'
  method: string
  path: string
  when: 'before' | 'after'
}

/** The world of one run. */
export interface World {
  mail: MailProvider
  idp: PlatformApi
  platform: PlatformEmulator
  journal: Journal
  /** Called at every step; what it returns is waited for. */
  atStep: (step: Step) => void | Promise<void>
  /** What a host needs of the environment to live in it. */
  environment(store: string): Record<string, string>
  close(): Promise<void>
}

/** What signs the platform's deliveries. */
export const webhookSecret = `whsec_${btoa('the secret of the chaos runs')}`

/** Makes a world. */
export async function createWorld(): Promise<World> {
  const mail = createMailProvider({ apiTokens: ['shared-token'] })
  const idp = createPlatformApi()
  const platform = createPlatformEmulator()
  const journal = createJournal()

  const world: World = {
    mail,
    idp,
    platform,
    journal,
    atStep: () => {},
    environment: (store) => ({
      PLATFORM_API_URL: platformServer.url,
      PLATFORM_WEBHOOK_SECRET: webhookSecret,
      DELIVERY_STORE: store,
      LOG_LEVEL: 'info',
      MAILER_API_BASE: mailServer.url,
      MAILER_SHARED_API_TOKEN: 'shared-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_PLATFORM_API_KEY: 'ak_emulated',
      IDP_PLATFORM_API_BASE: `${idpServer.url}/v1`,
      IDP_API_BASE: `${idpServer.url}/v1`,
    }),
    async close() {
      await Promise.all([mailServer, idpServer, platformServer].map((server) => server.close()))
    },
  }

  const watched = (to: Step['to'], act: (request: Request) => Promise<Response>) =>
    serve(async (request) => {
      const { pathname } = new URL(request.url)
      const call = { to, method: request.method, path: pathname }
      await world.atStep({ ...call, when: 'before' })
      const response = await act(request)
      await world.atStep({ ...call, when: 'after' })
      return response
    })
  const mailServer: Served = await watched('mail', writingMail(mail, journal))
  const idpServer: Served = await watched('idp', writingApplications(idp, journal))
  const platformServer: Served = await watched('platform', writingCallbacks(platform, journal))
  return world
}

function writingMail(
  { fetch, messages }: MailProvider,
  journal: Journal,
): (request: Request) => Promise<Response> {
  // The emulator keeps its list in the order of acceptance, and drops the oldest.
  let last: (typeof messages)[number] | undefined
  return async (request) => {
    try {
      return await fetch(request)
    } finally {
      const begin = last === undefined ? 0 : messages.lastIndexOf(last) + 1
      for (const { messageId, to } of messages.slice(begin)) {
        journal.write({ kind: 'mail accepted', messageId, to: to.join() })
      }
      last = messages.at(-1)
    }
  }
}

function writingApplications(
  { fetch, applications }: PlatformApi,
  journal: Journal,
): (request: Request) => Promise<Response> {
  const known = new Set<string>()
  return async (request) => {
    try {
      return await fetch(request)
    } finally {
      for (const { applicationId, name } of applications.values()) {
        if (known.has(applicationId)) continue
        known.add(applicationId)
        journal.write({ kind: 'application created', applicationId, name })
      }
      for (const applicationId of known) {
        if (applications.has(applicationId)) continue
        known.delete(applicationId)
        journal.write({ kind: 'application deleted', applicationId })
      }
    }
  }
}

function writingCallbacks(
  { fetch }: PlatformEmulator,
  journal: Journal,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const body: unknown = request.method === 'GET' ? undefined : await request.clone().json()
    const response = await fetch(request)
    const [, , deployment = '', what = 'read'] = new URL(request.url).pathname.split('/')
    if (request.method !== 'GET' && response.ok) journal.write({ kind: 'callback', deployment, what, body })
    return response
  }
}
