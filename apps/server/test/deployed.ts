/** The surroundings of a deployed host: a platform and providers over HTTP, and signed events. */
import { sign } from '@org/core'
import { createPlatformEmulator, serve } from '@org/core/testing'
import { createBackendApi } from '@org/idp/testing'
import { createMailProvider } from '@org/mailer/testing'

export const secret = `whsec_${btoa('a secret of the platform')}`
export const secretKey = `sk_test_${'s'.repeat(42)}`

/** A mail with multi-byte characters, in JSON that no serializer would repeat byte for byte. */
export const sendEmail = `{ "name": "FUNCTION_CALL",\n  "functionCall": { "name": "sendEmail", "arguments":
  { "to": "ada@example.com", "subject": "Grüße \\u2013 “hello”", "textBody": "日本" } }, "deployment": { "id": "dep_1" } }`

/** Starts the surroundings, with the variables of a production host between them. */
export async function startSurroundings() {
  const platform = createPlatformEmulator({ token: 'platform-token' })
  const mail = createMailProvider({ apiTokens: ['mail-token'] })
  const backend = createBackendApi({ instances: [{ secretKey, frontendHost: 'shared.clerk.accounts.dev' }] })
  const [instance] = backend.instances.values()
  let held = Promise.resolve()
  let arrived = 0
  const holdable = async (request: Request) => {
    arrived += 1
    await held
    return mail.fetch(request)
  }
  const servers = [await serve(platform.fetch), await serve(holdable), await serve(backend.fetch)]
  platform.addDeployment({ id: 'dep_1' })
  return {
    platform,
    mail,
    backend,
    variables: {
      NODE_ENV: 'production',
      DRAIN_DELAY_MS: '0',
      CORS_ORIGINS: 'https://app.example.com',
      DELIVERY_STORE: 'memory:',
      PLATFORM_API_URL: servers[0]?.url,
      PLATFORM_API_TOKEN: 'platform-token',
      PLATFORM_WEBHOOK_SECRET: secret,
      MAILER_API_BASE: servers[1]?.url,
      MAILER_SHARED_API_TOKEN: 'mail-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_API_BASE: `${servers[2]?.url}/v1`,
      IDP_SHARED_SECRET_KEY: secretKey,
      IDP_SHARED_PUBLISHABLE_KEY: instance?.publishableKey,
    },
    /** Forgets everything but one deployment. */
    reset() {
      mail.reset()
      platform.reset()
      platform.addDeployment({ id: 'dep_1' })
      arrived = 0
    },
    /** Holds every call to the mail provider until `letGo`. */
    holdMail(): { arrived: () => number; letGo: () => void } {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return { arrived: () => arrived, letGo: resolve }
    },
    async close() {
      for (const server of servers) await server.close()
    },
  }
}

/** A signed delivery, as the platform sends it. */
export async function signedRequest(
  body: string | Uint8Array<ArrayBuffer>,
  { url = 'https://host.test/mailer/webhook', id = String(crypto.randomUUID()) } = {},
): Promise<Request> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = await sign({ secret, id, body: bytes })
  const headers = { 'content-type': 'application/json', ...signed }
  return new Request(url, { method: 'POST', headers, body: bytes })
}
