import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { defineIntegration } from '@org/core'
import { type OpenApiDocument, toOpenApi } from '@org/core/internal'
import { serve } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPage } from '../src/routes/docs/page.ts'
import { credentials, startHost } from './hosted.ts'

const { get } = startHost()
const response = await get('/docs')
const page = await response.text()
const policy = response.headers.get('content-security-policy') ?? ''
const document: OpenApiDocument = await (await get('/openapi.json')).json()

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
/** The visible text. */
const toText = (html: string) =>
  html
    .replaceAll(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '')
    .replaceAll(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)

/** The commands that a reader can copy. */
const commandsOf = () =>
  [...page.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, text = '']) => toText(text))

describe('the page /docs', () => {
  it('has every route, event, function, alias, field and code of the document', () => {
    const text = toText(page)
    const words = Object.entries(document.paths).flatMap(([path, { post }]) => [
      path,
      ...Object.keys(post?.['x-responses'] ?? {}),
    ])
    const names = Object.entries(document.components.schemas).filter(([name]) =>
      /(Inputs|Outputs|Arguments|Result|^User|^Message|^Organization|^Problem)$/.test(name),
    )
    const fields = names.flatMap(([, { properties }]) => Object.keys(Object(properties)))
    const codes = Object.values(document.components.responses).flatMap((response) =>
      (response['x-problems'] ?? []).map(({ code }) => code),
    )
    const said = [...words, ...fields, ...codes]
    expect(said.length).toBeGreaterThan(200)
    expect(said.filter((word) => !text.includes(word))).toEqual([])
  })

  it('marks required fields, secrets, fields that may name a variable, and fields that never change', () => {
    const rowOf = (entry: string, field: string) => {
      const [, inputs = ''] = page.split(`id="${entry}"`)
      const rows = inputs.split('<dt>').map((row) => toText(row).replaceAll(/\s+/g, ' '))
      return rows.find((row) => row.startsWith(`${field} `))
    }
    expect(rowOf('mailer-DEPLOYMENT_CREATED', 'apiToken')).toContain('string sensitive or {{env.NAME}}')
    expect(rowOf('mailer-DEPLOYMENT_CREATED', 'serverType')).toContain(
      'One of shared, dedicated. Default: "shared".',
    )
    expect(rowOf('idp-server-DEPLOYMENT_CREATED', 'applicationName')).toContain('string required')
    expect(rowOf('idp-server-DEPLOYMENT_CREATED', 'template')).toContain('string never changes')
    expect(rowOf('idp-listUsers', 'limit')).toContain('integer ≥ 1 ≤ 500')
    expect(rowOf('mailer-sendEmail', 'attachments[].content')).toContain('string (base64) required')
  })

  it('has no broken link and no duplicate id', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id)
    expect(targets.filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('a browser', () => {
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

  it('may run and show only the content of the page', () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? []
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page) ?? []
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hashOf(style)}`,
      `script-src ${hashOf(script)}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(page.match(/<(style|script)/g)).toHaveLength(2)
    expect(page).not.toMatch(/ (style|on\w+)=/)
  })

  it('gets every word of a schema as text', async () => {
    const hostile = '<img src=x onerror=alert(1)> `</code><script>alert(2)</script>` "\'&'
    const integration = defineIntegration({
      name: 'hostile',
      title: hostile,
      description: hostile,
      events: ['DEPLOYMENT_CREATED', 'FUNCTION_CALL', 'METRIC_UPDATE'],
      inputs: z.object({ [hostile]: z.enum([hostile]).default(hostile).describe(hostile) }),
      outputs: z.object({ [hostile]: z.string().describe(hostile) }),
      functions: {
        [hostile]: {
          description: hostile,
          aliases: [`2${hostile}`],
          effectful: true,
          arguments: z.object({ [hostile]: z.literal(hostile) }),
          result: z.object({ [hostile]: z.string() }),
        },
      },
      metrics: { [hostile]: { description: hostile, unit: hostile } },
      downloads: [],
    })
    const info = { title: hostile, version: hostile, description: hostile }
    const { text } = await createPage(toOpenApi([integration], info))
    expect(text).not.toContain('<img')
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(toText(text)).toContain(`onerror=alert(1)`)
  })
})

const tools = ['bash', 'openssl', 'curl', 'base64', 'od']
const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)

describe.skipIf(missing.length > 0)('the commands of the page work as they are pasted', () => {
  /** Runs commands of the page one after the other in a shell; returns what the host says to each. */
  async function paste(commands: readonly string[], { host }: Pick<ReturnType<typeof startHost>, 'host'>) {
    const server = await serve(async (request) => host.fetch(request))
    const script = commands.map(
      (each) => `${each.replaceAll('http://localhost:3009', server.url)} --silent; echo`,
    )
    const env = { ...process.env, PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret }
    try {
      const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], { env })
      return stdout
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line))
    } finally {
      await server.close()
    }
  }

  it('all of them, on a host without a secret', async () => {
    const { world, ...started } = startHost()
    for (const name of ['mailer', 'idp', 'idp-server']) world.platform.addDeployment({ id: `dep_${name}` })
    for (const { createUser } of world.backend.instances.values())
      createUser({ id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d' })
    // The application that a command creates has no user.
    const commands = commandsOf().filter((command) => !/idp-server.*userId/s.test(command))
    const failed = (await paste(commands, started)).filter((body) => Object(body).code !== undefined)
    expect(failed).toEqual([])
    expect(commands.length).toBeGreaterThan(15)
  })

  it('the signed one, on a host with a secret', async () => {
    const signed = startHost({ variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } })
    const commands = commandsOf().filter((command) => command.includes('openssl'))
    const wrong = commands.map((command) => command.replace('v1,', 'v1,A'))
    expect(await paste([...commands, ...wrong], signed)).toMatchObject([
      { status: 'healthy' },
      { code: 'invalid_signature' },
    ])
  })
})
