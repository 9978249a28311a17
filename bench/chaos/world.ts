import { createPlatformEmulator, serve } from '../../packages/core/src/testing/index.ts'
import { createPlatformApi } from '../../packages/idp-server/src/testing/index.ts'
import { createMailProvider } from '../../packages/mailer/src/testing/index.ts'

/** A call of a host, before it takes effect or after. */
interface Step {
  to: 'mail' | 'idp' | 'platform'
  method: string
  path: string
  when: 'before' | 'after'
}

/** Counts the effects outside the hosts, and their responses. A run is judged by it. */
export interface Journal {
  /** How many mails each address got. */
  timesSent: Map<string, number>
  /** Every application that was ever made. */
  applications: Set<string>
  /** The different outputs, as JSON, that were published for a deployment. */
  outputs: Map<string, Set<string>>
  /** The status is 0 if there was no response. */
  responses: { status: number; code: string | undefined }[]
}

/** Signs the platform's deliveries. */
export const webhookSecret = `whsec_${btoa('the secret of the chaos runs')}`

export type Outside = Awaited<ReturnType<typeof startOutside>>

/** Starts everything outside the hosts, as emulators in this process. */
export async function startOutside() {
  const mail = createMailProvider({ apiTokens: ['shared-token'] })
  const idp = createPlatformApi()
  const platform = createPlatformEmulator()
  const journal: Journal = {
    timesSent: new Map(),
    applications: new Set(),
    outputs: new Map(),
    responses: [],
  }
  const outside = {
    mail,
    idp,
    platform,
    journal,
    /** Runs at every step, which waits for it. It can kill a host. */
    atStep: (_: Step): void | Promise<void> => {},
  }

  /** Serves an emulator, and writes its effects to the journal after each call. */
  const watched = (to: Step['to'], emulate: typeof fetch, record: () => void) =>
    serve(async (request) => {
      const { pathname: path } = new URL(request.url)
      await outside.atStep({ to, method: request.method, path, when: 'before' })
      const copy = request.clone()
      const response = await emulate(request).finally(record)
      if (to === 'platform' && request.method !== 'GET' && response.ok) {
        const [, , deployment = '', what] = path.split('/')
        const outputs = journal.outputs.get(deployment) ?? new Set()
        if (what === 'outputs')
          journal.outputs.set(deployment, outputs.add(JSON.stringify(await copy.json())))
      }
      await outside.atStep({ to, method: request.method, path, when: 'after' })
      return response
    })

  function recordMails(): void {
    for (const address of mail.messages.splice(0).flatMap(({ to }) => to))
      journal.timesSent.set(address, (journal.timesSent.get(address) ?? 0) + 1)
  }

  function recordApplications(): void {
    for (const id of idp.applications.keys()) journal.applications.add(id)
  }

  const mailServer = await watched('mail', mail.fetch, recordMails)
  const idpServer = await watched('idp', idp.fetch, recordApplications)
  const platformServer = await watched('platform', platform.fetch, () => {})
  return Object.assign(outside, {
    /** The variables of a host that calls the emulators. */
    variables: {
      PLATFORM_API_URL: platformServer.url,
      PLATFORM_WEBHOOK_SECRET: webhookSecret,
      LOG_LEVEL: 'info',
      MAILER_API_BASE: mailServer.url,
      MAILER_SHARED_API_TOKEN: 'shared-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_PLATFORM_API_KEY: 'ak_emulated',
      IDP_PLATFORM_API_BASE: `${idpServer.url}/v1`,
      IDP_API_BASE: `${idpServer.url}/v1`,
    },
    async close() {
      await Promise.all([mailServer, idpServer, platformServer].map((server) => server.close()))
    },
  })
}
