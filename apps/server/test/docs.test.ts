/** The page /docs: its words, and its commands in a shell. */
import { execFile, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import type { OpenApiDocument } from '@org/core/hosting'
import { serve } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { credentials, startHost } from './hosted.ts'

const { get, host } = startHost()
const response = await get('/docs')
const page = await response.text()
const document: OpenApiDocument = await (await get('/openapi.json')).json()

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
/** The visible text. */
const toText = (html: string) =>
  html
    .replaceAll(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '')
    .replaceAll(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)

describe('the page /docs', () => {
  it('has every route, event, function, alias, field and code of the document', () => {
    const text = toText(page)
    const events = Object.values(document.paths).map(({ post }) => post?.['x-responses'] ?? {})
    const named = /(Inputs|Outputs|Arguments|Result|^User|^Message|^Organization|^Problem)$/
    const schemas = Object.entries(document.components.schemas).filter(([name]) => named.test(name))
    const objects = [document.paths, ...events, ...schemas.map(([, { properties }]) => Object(properties))]
    const words = [
      ...objects.flatMap(Object.keys),
      ...document.components.responses.Problem['x-problems'].map(({ code }) => code),
    ]
    expect(words.length).toBeGreaterThan(200)
    expect(words.filter((word) => !text.includes(word))).toEqual([])
  })

  it.each([
    ['mailer-DEPLOYMENT_CREATED', 'apiToken', 'string sensitive or {{env.NAME}}'],
    ['mailer-DEPLOYMENT_CREATED', 'serverType', 'One of shared, dedicated. Default: "shared".'],
    ['idp-server-DEPLOYMENT_CREATED', 'template', 'string never changes'],
    ['idp-listUsers', 'limit', 'integer ≥ 1 ≤ 500'],
    ['mailer-sendEmail', 'to', 'string or array of string required'],
    ['mailer-sendEmail', 'attachments[].content', 'string (base64) required'],
  ])('says of %s that the field %s is: %s', (entry, field, words) => {
    const [, fields = ''] = page.split(`id="${entry}"`)
    const rows = fields.split('<dt>').map((row) => toText(row).replaceAll(/\s+/g, ' '))
    expect(rows.find((row) => row.startsWith(`${field} `))).toContain(words)
  })

  it('has no broken link, no duplicate id and no markup of a schema, and its policy lets a browser load nothing', () => {
    const [ids, targets] = [/ id="([^"]+)"/g, /href="#([^"]*)"/g].map((pattern) =>
      [...page.matchAll(pattern)].map(([, id]) => id),
    )
    expect(new Set(ids).size).toBe(ids?.length)
    expect(targets?.filter((id) => !ids?.includes(id))).toEqual([])
    const [style, script] = [...page.matchAll(/<(style|script)>(.*?)<\/\1>/gs)].map(
      ([, , text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`,
    )
    expect(page.match(/<(style|script)/g)).toHaveLength(2)
    expect(page).not.toMatch(/ (style|on\w+)=/)
    expect(page).toContain('<code>urn:problem:&lt;code&gt;</code>')
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src ${style}; script-src ${script}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
  })
})

const tools = ['bash', 'openssl', 'curl', 'base64', 'od']
const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)

if (missing.length > 0)
  process.stderr.write(`SKIPPED: the commands of the page /docs. They need ${missing.join(', ')}.\n`)

describe.skipIf(missing.length > 0)('the commands of the page, pasted into a shell,', () => {
  const commands = [...page.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, text = '']) => toText(text))

  /** Runs commands one after the other; returns what the host says to each. */
  async function paste(pasted: readonly string[], { fetch: answer }: Pick<typeof host, 'fetch'>) {
    const server = await serve(async (request) => answer(request))
    const toServer = (command: string) => command.replaceAll('http://localhost:3009', server.url)
    const script = pasted.map((command) => `${toServer(command)} --silent; echo`)
    const env = { ...process.env, PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret }
    const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], { env })
    await server.close()
    const lines = stdout.trim().split('\n')
    return lines.map((line): unknown => JSON.parse(line))
  }

  it('succeed on a host without a secret', async () => {
    const { world, host } = startHost()
    for (const name of ['mailer', 'idp', 'idp-server']) world.platform.addDeployment({ id: `dep_${name}` })
    for (const { createUser } of world.backend.instances.values())
      createUser({ id: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d' })
    // The application that a command creates has no user.
    const some = commands.filter((command) => !/idp-server.*userId/s.test(command))
    expect(some.length).toBeGreaterThan(15)
    expect((await paste(some, host)).filter((body) => Object(body).code !== undefined)).toEqual([])
  })

  it('succeed on a host with a secret if they sign', async () => {
    const { host } = startHost({ variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } })
    const signed = commands.filter((command) => command.includes('openssl'))
    const wrong = signed.map((command) => command.replace('v1,', 'v1,A'))
    const answers = [{ status: 'healthy' }, { code: 'invalid_signature' }]
    expect(await paste([...signed, ...wrong], host)).toMatchObject(answers)
  })
})
