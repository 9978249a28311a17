import { type Served, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { onTestFinished } from 'vitest'
import type { Environment } from '../src/environment.ts'
import { run } from '../src/run.ts'
import type { Terminal } from '../src/terminal.ts'
import { walks } from '../src/walk/index.ts'
import type { Walk } from '../src/walk/step.ts'
import type { World } from '../src/world.ts'

/** Without the step that takes its time, because the host waits as long as the provider asks it to. */
export const quickWalks = walks.map((walk) => ({
  ...walk,
  steps: walk.steps.filter(({ title }) => !title.includes('while the provider is busy')),
}))

/** A terminal that keeps what is printed. */
function createTerminal(width = 100): Terminal & { text(): string; errors(): string } {
  let text = ''
  let errors = ''
  return {
    write(more) {
      text += more
    },
    writeError(more) {
      errors += more
    },
    width,
    colours: false,
    text: () => text,
    errors: () => errors,
  }
}

interface Setup {
  environment?: Environment
  walks?: readonly Walk[]
  width?: number
  /** Runs while the host stays up; without it, the run ends after the walks. */
  visit?: (world: World) => Promise<void>
}

/** A run of the sandbox on a free port, with nothing of this machine's environment. */
export async function runSandbox({ environment, walks, width, visit }: Setup = {}) {
  const terminal = createTerminal(width)
  const end = new AbortController()
  let visited: Promise<void> = Promise.resolve()
  const code = await run({
    environment: { PORT: '0', ...environment },
    terminal,
    once: visit === undefined,
    signal: end.signal,
    walks,
    onReady(world) {
      visited = (visit ?? (async () => {}))(world).finally(() => end.abort())
    },
  })
  await visited
  return { code, output: terminal.text(), errors: terminal.errors() }
}

/** A provider that the sandbox takes for the real one, until the test ends. */
export async function serveForTest(handler: (request: Request) => Promise<Response>): Promise<Served> {
  const server = await serve(handler)
  onTestFinished(server.close)
  return server
}

/** What a machine with a token of the real mail provider has. */
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

/** What a machine with keys of the real identity provider has, for each of its two parts. */
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
