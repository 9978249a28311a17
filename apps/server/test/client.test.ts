import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serve } from '@org/core/testing'
import { generateClients } from '@org/openapi-checks/clients'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startContract } from './contract.ts'
import { credentials } from './hosted.ts'

/** The clients of three generators. */
const program = `
import { sign } from '@org/core'
import createClient from 'openapi-fetch'
import { client as hey } from './hey/client.gen.ts'
import { postMailerEvent as sendByHey } from './hey/sdk.gen.ts'
import { postMailerEvent as sendByOrval } from './orval.ts'
import type { components, paths } from './types.ts'

type Schemas = components['schemas']

export function connect(baseUrl: string, secret: string) {
  async function signedFetch(request: Request) {
    const id = request.headers.get('webhook-id') ?? crypto.randomUUID()
    const signed = await sign({ secret, id, body: await request.clone().text() })
    for (const [name, value] of Object.entries(signed)) request.headers.set(name, value)
    return fetch(request)
  }
  const client = createClient<paths>({ baseUrl, fetch: signedFetch })
  hey.setConfig({ baseUrl, fetch: (input) => signedFetch(new Request(input)) })
  type Arguments = Schemas['MailerSendEmailArguments']
  const call = (message: Arguments) =>
    ({ name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: message } }) as const
  const idIn = (data: Schemas['MailerResponse'] | undefined) =>
    data && 'result' in data && 'messageId' in data.result ? data.result.messageId : undefined

  const senders: Record<string, (message: Arguments, id: string) => Promise<string | undefined>> = {
    async 'openapi-fetch'(message, id) {
      const params = { header: { 'webhook-id': id } }
      const { data, error } = await client.POST('/mailer/webhook', { params, body: call(message) })
      if (error) throw new Error(error.retryable ? 'again' : error.code)
      return idIn(data)
    },
    async 'hey-api'(message, id) {
      const { data, error } = await sendByHey({ body: call(message), headers: { 'webhook-id': id } })
      if (error) throw new Error(error.code)
      return idIn(data)
    },
    async orval(message, id) {
      const headers = await sign({ secret, id, body: JSON.stringify(call(message)) })
      const { status, data } = await sendByOrval(call(message), { headers })
      if (status !== 200) throw new Error(data.code)
      return idIn(data)
    },
  }

  async function deploy(id: string, inputs: Schemas['MailerInputs']): Promise<string | undefined> {
    const { data } = await client.POST('/mailer/webhook', {
      body: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } },
    })
    return data && 'outputs' in data ? data.outputs.apiUrl : undefined
  }

  const isReady = async () => (await client.GET('/readyz')).data?.status === 'ready'
  return { senders, deploy, isReady, client }
}
`

const callOf = (name: string, args: string) =>
  `{ name: 'FUNCTION_CALL', functionCall: { name: '${name}', arguments: ${args} } }`
const creationOf = (deployment: string) => `{ name: 'DEPLOYMENT_CREATED', deployment: ${deployment} }`

/** Events that must not compile, with one mistake each. */
const mistakes = {
  'an argument that is misspelt': callOf('sendEmail', "{ to: 'a@b.c', subject: 's', htmlBdy: 'x' }"),
  'an argument of the wrong type': callOf('sendEmail', "{ to: 5, subject: 's' }"),
  'an argument that is missing': callOf('send', "{ subject: 's' }"),
  'a function of another route': callOf('createUser', '{}'),
  'the arguments of another function': callOf('getDeliveryStats', "{ to: 'a@b.c', subject: 's' }"),
  'an unknown event': "{ name: 'DEPLOYMENT_UPDATED', deployment: { id: 'dep_1' } }",
  'a deployment without its id': creationOf('{ inputs: {} }'),
  'an unknown input': creationOf("{ id: 'dep_1', inputs: { serverTyp: 'shared' } }"),
  'an unknown value of an input': creationOf("{ id: 'dep_1', inputs: { serverType: 'cheap' } }"),
}

const folder = join(import.meta.dirname, '../.data/client')
const contract = await startContract({ variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } })
const served = await serve(async (request) => contract.host.fetch(request))

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const wrong = Object.values(mistakes).map(
    (body) => `// @ts-expect-error\nconnect('', '').client.POST('/mailer/webhook', { body: ${body} })\n`,
  )
  const files = {
    'tsconfig.json': JSON.stringify({
      extends: '../../tsconfig.json',
      // The client of hey-api does not compile with it.
      compilerOptions: { exactOptionalPropertyTypes: false },
      include: ['*.ts'],
    }),
    'program.ts': program,
    'mistakes.ts': `import { connect } from './program.ts'\n${wrong.join('')}`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  await generateClients(contract.document, folder, served.url)
})
afterAll(() => served.close())

describe('the clients that openapi-typescript, hey-api and orval generate from the OpenAPI document', () => {
  it('compile, and openapi-fetch rejects each mistake', () => {
    const { resolve } = createRequire(import.meta.url)
    const compiler = join(dirname(resolve('typescript/package.json')), 'bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--checkers', '1'], {
      encoding: 'utf8',
    })
    // The line of a mistake that compiles says “Unused '@ts-expect-error' directive”.
    expect(stdout).toBe('')
  })

  it('deploy, send each mail once, and read failures', async () => {
    const { connect } = await import(join(folder, 'program.ts'))
    const { senders, ...client } = connect(served.url, credentials.webhookSecret)
    const { platform, mail } = contract.world
    platform.addDeployment({ id: 'dep_1' })

    expect(await client.isReady()).toBe(true)
    expect(await client.deploy('dep_1', { serverType: 'shared', fromEmail: '' })).toBe('http://mail.test')
    for (const [name, send] of Object.entries<typeof senders.orval>(senders)) {
      const message = { to: `${name}@example.com`, subject: 'Hi', textBody: 'x' }
      const messageId = await send(message, `evt_${name}`)
      expect(await send(message, `evt_${name}`)).toBe(messageId)
      expect(mail.messages.filter(({ to }) => to[0] === message.to)).toMatchObject([{ messageId }])
      await expect(send({ ...message, to: 'nobody' }, `evt_${name}_2`)).rejects.toThrow('invalid_arguments')
    }
  })
})
