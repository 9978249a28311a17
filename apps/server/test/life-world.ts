/**
 * The built host between a platform and providers, and the deployments of one life on it, beside their model.
 */
import { ConnectionCut, createPlatformEmulator, deliver, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import type { Inputs, LifeEvent, Weather } from './life-events.ts'
import type { CarryingEvent, Deployment, Resource } from './life-model.ts'
import { Connected, Provisioned, workspaceOf } from './life-providers.ts'
import { startShipped } from './shipped.ts'

export type Route = 'idp-server' | 'mailer'

/** Starts the host and its surroundings, for any number of lives. */
export async function startWorld() {
  const platform = createPlatformEmulator()
  const accessTokens = ['ak_host']
  const workspaces: Record<string, string> = { ak_host: 'host' }
  const provider = createPlatformApi({ accessTokens, workspaces })
  const mail = createMailProvider({ apiTokens: ['mail_host', 'mail_A', 'mail_A2'] })
  const weathers = new Map<string, Weather>()
  const weatherOf = (id = '') => weathers.get(id) ?? {}

  async function answerAsPlatform(request: Request): Promise<Response> {
    const [, , id, kind] = new URL(request.url).pathname.split('/')
    const { platform: answer, callbacks = 'all' } = weatherOf(id)
    if (answer === 'gone') return Response.json({ title: 'There is no such deployment.' }, { status: 404 })
    const isMet = callbacks === 'all' || callbacks === (kind ?? 'read')
    if (!answer || !isMet) return platform.fetch(request)
    if (answer === 'page') return new Response('<h1>Not found</h1>', { status: 404 })
    // Longer than the host has time for: it gives up at once.
    return new Response(null, { status: 503, headers: { 'retry-after': '60' } })
  }

  async function answerAsProvider(request: Request): Promise<Response> {
    const isCreate = request.method === 'POST' && request.url.endsWith('/platform/applications')
    if (!isCreate) return provider.fetch(request)
    const { name } = await request.clone().json()
    const { create } = weatherOf(String(name).split(' ')[0])
    if (create === 'lost') throw new ConnectionCut()
    const response = await provider.fetch(request)
    if (create === 'unanswered') throw new ConnectionCut()
    return response
  }

  const servers = await Promise.all([serve(answerAsPlatform), serve(answerAsProvider), serve(mail.fetch)])
  const [platformUrl, providerUrl, mailUrl] = servers.map(({ url }) => url)
  const host = startShipped({
    environment: {
      PLATFORM_API_URL: platformUrl,
      IDP_API_BASE: `${providerUrl}/v1`,
      IDP_PLATFORM_API_BASE: `${providerUrl}/v1`,
      IDP_PLATFORM_API_KEY: 'ak_host',
      MAILER_API_BASE: mailUrl,
      MAILER_SHARED_API_TOKEN: 'mail_host',
      MAILER_SHARED_FROM_EMAIL: 'shared@example.com',
    },
  })
  const url = await host.url
  let lives = 0

  return {
    platform,
    provider,
    mail,
    /** Begins a life with two deployments, with tokens and workspaces of their own. */
    begin(route: Route): Life {
      lives += 1
      const life = `life${lives}`
      for (const token of ['A', 'A2', 'B'] as const) {
        accessTokens.push(`ak_${life}_${token}`)
        workspaces[`ak_${life}_${token}`] = `${life}_${workspaceOf(token)}`
      }
      const models =
        route === 'mailer' ? [new Connected(), new Connected()] : [new Provisioned(), new Provisioned()]
      const subjects = models.map((model, index) => {
        const id = `${life}${'ab'[index]}`
        return { id, model, row: platform.addDeployment({ id }) }
      })
      return { route, life, subjects, delivered: [], applicationIds: new Map() }
    },
    async send(route: Route, { id, body }: Delivery, subject: string, weather: Weather) {
      weathers.set(subject, weather)
      const answer = await deliver(fetch, body, { id, url: `${url}/${route}/webhook` })
      weathers.delete(subject)
      return answer
    },
    /** Forgets a life. */
    end({ subjects }: Life) {
      for (const { id } of subjects) {
        platform.removeDeployment(id)
        for (const { applicationId } of this.applicationsOf(id)) provider.removeApplication(applicationId)
      }
    },
    applicationsOf: (id: string) =>
      [...provider.applications.values()].filter(({ name }) => name.startsWith(`${id} `)),
    async close() {
      host.kill('SIGKILL')
      await host.exit
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

export interface Subject {
  id: string
  model: Deployment
  row: ReturnType<ReturnType<typeof createPlatformEmulator>['addDeployment']>
}

export interface Delivery {
  id: string
  body: object
}

export interface Life {
  route: Route
  life: string
  subjects: Subject[]
  delivered: (Delivery & { subject: Subject; event: CarryingEvent })[]
  applicationIds: Map<Resource, string>
}

/** Makes the delivery of an event, as the platform sends it. */
export function compose({ route, life, subjects, delivered }: Life, subject: Subject, event: LifeEvent) {
  const { row } = subject
  const inputs = event.inputs && wireInputs(event.inputs, route, life, subject.id)
  if (event.name === 'DEPLOYMENT_CREATED') {
    row.inputs = inputs ?? {}
    subject.model.inputs = event.inputs
  }
  const carrier = event.outputs === 'foreign' ? subjects.find((one) => one !== subject) : subject
  const outputs = event.outputs && carrier?.row.outputs
  const body = {
    name: event.name,
    ...(event.at !== undefined && { timestamp: new Date(began + event.at * 3_600_000).toISOString() }),
    deployment: {
      id: subject.id,
      ...(inputs && { inputs }),
      ...(outputs && Object.keys(outputs).length > 0 && { outputs }),
    },
    ...(event.name === 'FUNCTION_CALL' && { functionCall: functionCalls[route](subject.id) }),
  }
  const carried = event.outputs && carrier?.model.outputs
  const delivery = { id: `${life}_${delivered.length}`, body, subject, event: { ...event, carried } }
  delivered.push(delivery)
  return delivery
}

const began = Date.now()

const functionCalls = {
  'idp-server': () => ({
    name: 'createUser',
    arguments: { emailAddress: `${crypto.randomUUID()}@example.com`, firstName: 'Ada', lastName: 'Lovelace' },
  }),
  mailer: (id: string) => ({
    name: 'sendEmail',
    arguments: { to: `${id}@example.com`, from: 'shop@example.com', subject: 'Hi', textBody: 'x' },
  }),
}

function wireInputs({ name, token, ...settings }: Inputs, route: Route, life: string, id: string) {
  if (route === 'mailer') {
    const shared = { serverType: 'shared' }
    const server = token === 'host' ? shared : { serverType: 'dedicated', apiToken: `mail_${token}` }
    return { ...server, fromEmail: name ? `${name}@example.com` : 'nobody' }
  }
  return {
    applicationName: name && `${id} ${name}`,
    platformApiKey: token === 'host' ? '' : `ak_${life}_${token}`,
    environmentType: settings.environmentType,
    domain: `${settings.domain}.${id}.example.com`,
    ...(settings.template && { template: settings.template }),
  }
}
