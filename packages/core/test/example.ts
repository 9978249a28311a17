/**
 * A small integration that has one of everything, and a host that runs it against the platform emulator.
 */
import * as z from 'zod'
import {
  checkHealth,
  createWebhookHandler,
  defineIntegration,
  environmentReference,
  functionArguments,
  type HandlerContext,
  type HandlerDependencies,
  type Handlers,
  IntegrationError,
  type LogLevel,
  secret,
} from '../src/index.ts'
import { createPlatformEmulator } from '../src/testing/index.ts'
import { platformOver } from './platform-port.ts'

/** What the example asks of its provider. */
export interface ProviderCall {
  action: 'connect' | 'disconnect' | 'ping' | 'count' | 'greet'
  token?: string | undefined
  to?: string | undefined
}

export interface ExampleSettings {
  provider: (call: ProviderCall, context: HandlerContext<ExampleSettings>) => Promise<void>
}

export const greeter = defineIntegration({
  name: 'greeter',
  title: 'Greetings',
  description: 'Greets people.',
  events: [
    'DEPLOYMENT_CREATED',
    'DEPLOYMENT_DELETED',
    'HEALTH_CHECK',
    'METRIC_UPDATE',
    'FUNCTION_CALL',
    'DOWNLOAD_STARTED',
  ],
  inputs: z.object({
    token: environmentReference(secret(z.string().min(1).max(100))).optional(),
    region: z.enum(['eu', 'us']).default('eu'),
    contacts: z.array(z.object({ name: z.string() })).optional(),
  }),
  outputs: z.object({
    token: secret(z.string()),
    region: z.string(),
    sessionKey: secret(z.string()).optional().describe('Only in the region us.'),
  }),
  functions: {
    sendGreeting: {
      description: 'Greets one person.',
      aliases: ['greet'],
      effect: true,
      arguments: functionArguments({
        to: z.string(),
        password: secret(z.string()).optional(),
        people: z.array(functionArguments({ name: z.string() })).optional(),
      }),
      result: z.object({ id: z.string() }),
    },
    issueKey: {
      description: 'Makes a key.',
      effect: true,
      arguments: functionArguments({}),
      result: z.object({ key: secret(z.string()) }),
    },
    countGreetings: {
      description: 'Counts.',
      aliases: ['count'],
      effect: false,
      arguments: functionArguments({}),
      result: z.object({ count: z.int() }),
    },
  },
  metrics: {
    greetings_sent: { description: 'Greetings sent.', unit: 'greetings' },
    people_greeted: { description: 'People greeted.' },
  },
  downloads: ['.env.local', 'middleware.ts'],
})

type Context = HandlerContext<ExampleSettings>

async function tokenOf({ deployment }: Context): Promise<string | undefined> {
  return (await deployment?.outputs(greeter.outputs))?.token
}

const handlers = {
  async created({ token, region }, context) {
    if (token === undefined) throw new IntegrationError('missing_credentials', 'There is no token.')
    await context.settings.provider({ action: 'connect', token }, context)
    context.log.info(`Connected with ${token}.`, { region })
    return { token, region, ...(region === 'us' ? { sessionKey } : {}) }
  },
  async deleted(context) {
    await context.settings.provider({ action: 'disconnect', token: await tokenOf(context) }, context)
  },
  async health(context) {
    return [await checkHealth('provider', () => context.settings.provider({ action: 'ping' }, context))]
  },
  async metrics(context) {
    await context.settings.provider({ action: 'count' }, context)
    return { greetings_sent: 3, people_greeted: 2 }
  },
  async download(path, context) {
    return [{ path, contentType: 'text/plain', content: `TOKEN=${await tokenOf(context)}\n` }]
  },
  functions: {
    async sendGreeting({ to }, context) {
      await context.settings.provider({ action: 'greet', to, token: await tokenOf(context) }, context)
      return { id: `greeting-to-${to}` }
    },
    issueKey: async () => ({ key: issuedKey }),
    async countGreetings(_, context) {
      await context.settings.provider({ action: 'count' }, context)
      return { count: 3 }
    },
  },
} satisfies Handlers<typeof greeter, ExampleSettings>

export const token = 'token-4f9a1c77'
export const issuedKey = 'key-of-the-vault'
export const sessionKey = 'session-key-of-us'

/** Makes a host for the example, with one deployment `dep_1` on its platform. */
export function createHost({
  provider = async () => {},
  route = greeter.name,
  ...dependencies
}: Partial<HandlerDependencies & ExampleSettings & { route: string }> = {}) {
  const platform = createPlatformEmulator()
  platform.addDeployment({ id: 'dep_1', inputs: { token } })
  const asked: ProviderCall[] = []
  const lines: { level: LogLevel; message: string; facts: Record<string, unknown> | undefined }[] = []
  const handle = createWebhookHandler({ ...greeter, name: route }, handlers, {
    platform: platformOver(platform.fetch),
    logger: (level, message, facts) => lines.push({ level, message, facts }),
    ...dependencies,
    settings: {
      provider(call, context) {
        asked.push(call)
        return provider(call, context)
      },
    },
  })
  /** Every write that the platform got, as `PUT /deployments/dep_1/status running`. */
  const told = () =>
    platform.calls
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, body }) => `${method} ${path} ${statusOf(body)}`.trimEnd())
  return { handle, platform, asked, lines, told }
}

function statusOf(body: unknown): string {
  const parsed = z.object({ status: z.string() }).safeParse(body)
  return parsed.success ? parsed.data.status : ''
}

export const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: { token } } }
export const deleted = {
  name: 'DEPLOYMENT_DELETED',
  deployment: { id: 'dep_1', outputs: { token, region: 'eu' } },
}

/** A call of a function, without a deployment. */
export function calling(name: string, args?: Record<string, unknown>) {
  return { name: 'FUNCTION_CALL', functionCall: { name, ...(args ? { arguments: args } : {}) } }
}
