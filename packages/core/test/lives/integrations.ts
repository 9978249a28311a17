/** A small integration with two routes, and its provider: `owning` owns an application there, `connected` only connects. */
import { randomUUID } from 'node:crypto'
import {
  checkHealth,
  createWebhookHandler,
  defineIntegration,
  functionArguments,
  type HandlerContext,
  type HandlerDependencies,
  type Handlers,
  IntegrationError,
  secret,
} from '@org/core'
import { ConnectionCut } from '@org/core/testing'
import * as z from 'zod'
import { greeter } from '../fixtures.ts'

export type Route = 'owning' | 'connected'

const inputs = z.object({
  name: z.string().regex(/ \w/).default('shared server'),
  token: z.string().default('A'),
})
const outputs = z.object({
  applicationId: z.string().optional(),
  name: z.string(),
  token: secret(z.string()),
})
const result = z.record(z.string(), z.string())

const definition = defineIntegration({
  ...greeter,
  inputs,
  outputs,
  functions: {
    act: {
      description: 'Creates a user, or sends a mail.',
      effectful: true,
      arguments: functionArguments({ to: z.string() }),
      result,
    },
    actOnAll: {
      description: 'Sends several mails, each by a call of its own.',
      effectful: true,
      resumable: true,
      arguments: functionArguments({ to: z.array(z.string()) }),
      result,
    },
  },
})

/** Makes the webhook handler of a route. */
export function createHandler(route: Route, dependencies: HandlerDependencies) {
  const isOwning = route === 'owning'
  const integration = { ...definition, name: route }

  async function call(method: string, id: string, body: object, { fetch }: HandlerContext): Promise<void> {
    const init = { method, ...(method !== 'GET' && { body: JSON.stringify(body) }) }
    const response = await fetch(`http://provider.test/${route}/${id}`, init).catch((cause: unknown) => {
      if (cause instanceof IntegrationError) throw cause
      const effect = cause instanceof ConnectionCut ? 'unknown' : 'none'
      throw new IntegrationError('provider_timeout', 'The connection broke.', { effect, cause })
    })
    if (!response.ok) throw new IntegrationError('credentials_rejected', `It answered ${response.status}.`)
  }

  /** Calls the provider by the outputs of the deployment, or else by the inputs of one that only connects. */
  async function use(method: string, body: object, context: HandlerContext): Promise<void> {
    const published = await context.deployment?.outputs(outputs)
    const found = published ?? (isOwning ? undefined : await context.deployment?.inputs(inputs))
    if (!found) throw new IntegrationError('missing_credentials', 'It was not created yet.')
    await call(method, published?.applicationId ?? found.token, body, context)
  }

  /** Sends what no earlier attempt sent. What is known of a call counts, whether the store has it yet or not. */
  async function actOnce(to: string, context: HandlerContext): Promise<[string, string]> {
    const { progress } = context
    const step = progress?.read(to) ?? undefined
    if (step !== undefined) return [to, step === 'begun' ? 'unknown' : 'sent']
    try {
      await progress?.write(to, 'begun')
      await use('POST', { to }, context)
    } catch (error) {
      await progress?.write(to, null).catch(() => {})
      throw error
    }
    await progress?.write(to, { at: Date.now() }).catch(() => {})
    return [to, 'sent']
  }

  /** @returns the id of the application, if the deployment has one or `next` is given */
  async function identify({ event, progress }: HandlerContext, next?: string): Promise<string | undefined> {
    if (!progress) throw new TypeError('There is no claim.')
    const carried = event.deployment?.outputs?.applicationId
    if (typeof carried === 'string' && (await progress.isReserved(carried)))
      throw new IntegrationError('invalid_event', 'It belongs to another deployment.', { status: 422 })
    const known = z.string().nullish().parse(progress.read('id')) ?? undefined
    if (known || !next) return known
    await progress.reserve(next)
    await progress.write('id', next)
    return next
  }

  async function remove(context: HandlerContext): Promise<void> {
    const id = isOwning ? await identify(context) : undefined
    if (id) await call('DELETE', id, {}, context)
  }

  const handlers: Handlers<typeof integration> = {
    async created({ name, token }, context) {
      // The provider takes an id that the host has chosen, so a create can be repeated.
      const applicationId = isOwning ? await identify(context, randomUUID()) : undefined
      if (applicationId) await call('PUT', applicationId, { name, token }, context)
      else await call('GET', token, {}, context)
      return { applicationId, name, token }
    },
    deleted: remove,
    async discard(_, context) {
      await remove(context)
      await context.progress?.write('id', null)
    },
    health: async (context) => [await checkHealth('provider', () => use('GET', {}, context))],
    async metrics(context) {
      await use('GET', {}, context)
      return { greetings_sent: 1 }
    },
    async download(path, context) {
      await use('GET', {}, context)
      return [{ path, contentType: 'text/plain', content: '' }]
    },
    functions: {
      async act(body, context) {
        await use('POST', body, context)
        return { [body.to]: 'sent' }
      },
      async actOnAll({ to }, context) {
        const outcomes = to.map((name) => actOnce(name, context))
        await Promise.allSettled(outcomes)
        return Object.fromEntries(await Promise.all(outcomes))
      },
    },
  }
  return createWebhookHandler(integration, handlers, dependencies)
}

/** The provider of both, which does not know the token B of a connection. */
export function createProvider() {
  const applications = new Map<string, { id: string; name: string; token: string; users: number }>()
  /** How many, by their addresses. */
  const mails = new Map<string, number>()

  const provider: typeof fetch = async (input, init) => {
    const { method, body, url } = new Request(input, init)
    const [, route, id = ''] = new URL(url).pathname.split('/')
    const { name, token, to } = body ? await new Response(body).json() : {}
    const known = applications.get(id)
    const refusal = new Response(null, { status: 404 })
    if (route === 'connected' && id === 'B') return refusal
    if (method === 'PUT') applications.set(id, { users: 0, ...known, id, name, token })
    else if (method === 'DELETE') applications.delete(id)
    else if (route === 'owning' && !known) return refusal
    else if (method === 'POST' && known) known.users += 1
    else if (method === 'POST') mails.set(to, (mails.get(to) ?? 0) + 1)
    return Response.json({})
  }

  return { applications, mails, fetch: provider }
}
