import { fileURLToPath } from 'node:url'
import { type Served, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { onTestFinished } from 'vitest'
import { run } from '../src/run.ts'
import type { Walk } from '../src/walk/step.ts'
import type { Environment } from '../src/world/listen.ts'
import type { World } from '../src/world/world.ts'

export const webhookSecret = `whsec_${btoa('a secret of the platform')}`

/** The environment of a program that a test starts. Compiled code is kept, as the launcher of `npm start` keeps it. */
export const programEnvironment = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../.data/compiled', import.meta.url)),
}

interface Setup {
  environment?: Environment
  walks?: readonly Walk[]
  width?: number
  /** @default true */
  walk?: boolean
  /** Runs while the host keeps running; without it, the run ends after the walks. */
  visit?: (world: World) => Promise<void>
}

/** Runs the sandbox on a free port, without this machine’s environment. */
export async function runSandbox({ environment, walks, width = 100, walk = true, visit }: Setup = {}) {
  let output = ''
  let errors = ''
  const end = new AbortController()
  let visited: Promise<void> | undefined
  const code = await run({
    environment: { PORT: '0', ...environment },
    terminal: {
      write: (text) => (output += text),
      writeError: (text) => (errors += text),
      width,
      colours: false,
    },
    once: visit === undefined,
    walk,
    signal: end.signal,
    walks,
    onReady(world) {
      visited = visit?.(world).finally(() => end.abort())
    },
  })
  await visited
  return { code, output, errors }
}

/** A provider that the sandbox takes for the real one, until the test ends. */
export async function serveForTest(handler: (request: Request) => Promise<Response>): Promise<Served> {
  const server = await serve(handler)
  onTestFinished(server.close)
  return server
}

/** The environment of a machine with a token of the real mail provider. */
export async function realMail() {
  const token = 'the-real-token'
  const provider = createMailProvider({ apiTokens: [token], senders: ['shop.example'] })
  const { url } = await serveForTest(provider.fetch)
  const environment = {
    MAILER_SHARED_API_TOKEN: token,
    MAILER_SHARED_FROM_EMAIL: 'hello@shop.example',
    MAILER_API_BASE: url,
  }
  return { token, provider, environment }
}

/** The environment of a machine with keys of the real identity provider. */
export async function realIdentity() {
  const accessToken = 'the-real-access-token'
  const provider = createPlatformApi({ accessTokens: [accessToken] })
  const { instance } = provider.backend
  const { url } = await serveForTest(provider.fetch)
  const application = {
    IDP_SHARED_PUBLISHABLE_KEY: instance.publishableKey,
    IDP_SHARED_SECRET_KEY: instance.secretKey,
    IDP_API_BASE: `${url}/v1`,
  }
  const workspace = { IDP_PLATFORM_API_KEY: accessToken, IDP_PLATFORM_API_BASE: `${url}/v1` }
  return { provider, instance, application, workspace, secrets: [accessToken, instance.secretKey] }
}
