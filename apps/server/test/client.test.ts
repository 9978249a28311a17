import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { generateTypes } from '@org/openapi-checks/types'
import { beforeAll, describe, expect, it } from 'vitest'
import { startContract } from './contract.ts'
import { credentials } from './hosted.ts'

/** A platform's client with the types of the document. */
const program = `
import { sign } from '@org/core'
import createClient from 'openapi-fetch'
import type { components, paths } from './host.ts'

type Schemas = components['schemas']

export function connect(fetch: (request: Request) => Promise<Response>, secret: string) {
  const client = createClient<paths>({ baseUrl: 'http://host.test', fetch })
  client.use({
    async onRequest({ request }) {
      const id = request.headers.get('webhook-id') ?? crypto.randomUUID()
      const signed = await sign({ secret, id, body: await request.clone().text() })
      for (const [name, value] of Object.entries(signed)) request.headers.set(name, value)
    },
  })

  async function sendEmail(message: Schemas['Message'], id: string): Promise<Schemas['SendEmailResult']> {
    const { data, error } = await client.POST('/mailer/webhook', {
      params: { header: { 'webhook-id': id } },
      body: { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: message } },
    })
    if (error) throw new Error(error.retryable ? 'again' : error.code)
    if (!('result' in data) || !('messageId' in data.result)) throw new Error('Another response.')
    return data.result
  }

  async function deploy(id: string, inputs: Schemas['MailerInputs']): Promise<string | undefined> {
    const { data } = await client.POST('/mailer/webhook', {
      body: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } },
    })
    return data && 'outputs' in data ? data.outputs.apiUrl : undefined
  }

  const isReady = async () => (await client.GET('/readyz')).data?.status === 'ready'
  return { sendEmail, deploy, isReady, client }
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
let contract: Awaited<ReturnType<typeof startContract>>

beforeAll(async () => {
  contract = await startContract({ variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } })
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const wrong = Object.values(mistakes).map(
    (body) => `// @ts-expect-error\nconnect(fetch, '').client.POST('/mailer/webhook', { body: ${body} })\n`,
  )
  const files = {
    'tsconfig.json': '{ "extends": "../../tsconfig.json", "include": ["*.ts"] }',
    'host.ts': await generateTypes(contract.document),
    'program.ts': program,
    'mistakes.ts': `import { connect } from './program.ts'\n${wrong.join('')}`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
})

describe('a client that is generated from the OpenAPI document', () => {
  it('compiles, and rejects each mistake', () => {
    const { resolve } = createRequire(import.meta.url)
    const compiler = join(dirname(resolve('typescript/package.json')), 'bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
    // The line of a mistake that compiles says “Unused '@ts-expect-error' directive”.
    expect(stdout).toBe('')
  })

  it('works with the host', async () => {
    const { connect } = await import(join(folder, 'program.ts'))
    const { host, world } = contract
    const client = connect(async (request: Request) => host.fetch(request), credentials.webhookSecret)
    world.platform.addDeployment({ id: 'dep_1' })

    expect(await client.isReady()).toBe(true)
    expect(await client.deploy('dep_1', { serverType: 'shared', fromEmail: '' })).toBe('http://mail.test')
    const message = { to: 'ada@example.com', subject: 'Hi', textBody: 'x' }
    const { messageId } = await client.sendEmail(message, 'evt_1')
    expect(world.mail.messages).toMatchObject([{ messageId, to: ['ada@example.com'] }])
    expect(await client.sendEmail(message, 'evt_1')).toMatchObject({ messageId })
    expect(world.mail.messages).toHaveLength(1)
    await expect(client.sendEmail({ ...message, to: 'nobody' }, 'evt_2')).rejects.toThrow('invalid_arguments')
  })
})
