/** Clients that generators make of the host’s OpenAPI document. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serve } from '@org/core/testing'
import { generateClients } from '@org/openapi-checks/clients'
import { expect, it, onTestFinished } from 'vitest'
import { credentials, mail, startHost } from './hosted.ts'

/** Sends a mail by the client of openapi-fetch. */
const program = `
import { sign } from '@org/core'
import createClient from 'openapi-fetch'
import type { components, paths } from './types.ts'

export function connect(baseUrl: string, secret: string) {
  async function signedFetch(request: Request) {
    const id = request.headers.get('webhook-id') ?? crypto.randomUUID()
    const signed = await sign({ secret, id, body: await request.clone().text() })
    for (const [name, value] of Object.entries(signed)) request.headers.set(name, value)
    return fetch(request)
  }
  const client = createClient<paths>({ baseUrl, fetch: signedFetch })
  async function send(message: components['schemas']['MailerSendEmailArguments'], id: string) {
    const { data, error } = await client.POST('/mailer/webhook', {
      params: { header: { 'webhook-id': id } },
      body: { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: message } },
    })
    if (error) throw new Error(error.retryable ? 'again' : error.code)
    return 'result' in data && 'messageId' in data.result ? data.result.messageId : undefined
  }
  return { client, send }
}
`

/** Events with one mistake each. */
const mistakes = [
  callOf('sendEmail', "{ to: 'a@b.c', subject: 's', htmlBdy: 'x' }"),
  callOf('sendEmail', "{ to: 5, subject: 's' }"),
  callOf('createUser', '{}'),
  "{ name: 'DEPLOYMENT_UPDATED', deployment: { id: 'dep_1' } }",
  "{ name: 'DEPLOYMENT_CREATED', deployment: { inputs: {} } }",
  "{ name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: { serverType: 'cheap' } } }",
]
function callOf(name: string, args: string): string {
  return `{ name: 'FUNCTION_CALL', functionCall: { name: '${name}', arguments: ${args} } }`
}

it('the clients of openapi-typescript, hey-api and orval compile; the first rejects mistakes, and sends each mail once', async () => {
  const folder = join(import.meta.dirname, '../.data/client')
  const secret = credentials.webhookSecret
  const { world, host, get } = startHost({ variables: { PLATFORM_WEBHOOK_SECRET: secret } })
  const served = await serve(async (request) => host.fetch(request))
  onTestFinished(() => served.close())
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  // The client of hey-api does not compile with exactOptionalPropertyTypes.
  const compilerOptions = { exactOptionalPropertyTypes: false }
  write(
    'tsconfig.json',
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }),
  )
  write('program.ts', program)
  // A mistake that compiles has an unused @ts-expect-error.
  const wrong = mistakes.map(
    (body) => `// @ts-expect-error\nconnect('', '').client.POST('/mailer/webhook', { body: ${body} })\n`,
  )
  write('mistakes.ts', `import { connect } from './program.ts'\n${wrong.join('')}`)
  await generateClients(await (await get('/openapi.json')).json(), folder, served.url)

  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  const parameters = [join(dirname(typescript), 'bin/tsc'), '-p', folder, '--checkers', '1']
  expect(String(spawnSync(process.execPath, parameters).stdout)).toBe('')

  const { connect } = await import(join(folder, 'program.ts'))
  const { send } = connect(served.url, secret)
  const messageId = await send(mail, 'evt_1')
  expect(await send(mail, 'evt_1')).toBe(messageId)
  expect(world.mail.messages).toMatchObject([{ messageId }])
  await expect(send({ ...mail, to: 'nobody' }, 'evt_2')).rejects.toThrow('invalid_arguments')
})
