import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { defineIntegration } from '@org/core'
import { type OpenApiDocument, toOpenApi } from '@org/core/internal'
import { serve } from '@org/core/testing'
import { createValidator } from '@org/openapi-checks/validate'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { renderPage } from '../src/routes/docs/page.ts'
import { credentials, startHost } from './hosted.ts'

const { host } = startHost()
const get = async (url: string, headers: Record<string, string> = {}) =>
  host.fetch(new Request(url, { headers }))

let page: string
let policy: string
let document: OpenApiDocument

beforeAll(async () => {
  const response = await get('https://host.example/docs')
  page = await response.text()
  policy = response.headers.get('content-security-policy') ?? ''
  document = await (await get('https://host.example/openapi.json')).json()
})

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
/** The visible text. */
const toText = (html: string) =>
  html
    .replaceAll(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '')
    .replaceAll(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)

/** The examples of one kind. */
const examplesOf = (html: string, kind: string) =>
  [...html.matchAll(/<figure class="example (\w+)">.*?<code>(.*?)<\/code>/gs)]
    .filter(([, each]) => each === kind)
    .map(([, , text = '']) => toText(text))
const commandsOf = (html: string) => examplesOf(html, 'curl')

describe('the page /docs', () => {
  it('has every route, event, function, alias, field and code of the document', () => {
    const text = toText(page)
    const words = Object.entries(document.paths).flatMap(([path, { post }]) => [
      path.replace(/#.*/, ''),
      ...(post?.['x-events'] ?? []).flatMap(({ event, function: called }) =>
        called ? [called.name, ...called.aliases, called.description] : [event],
      ),
    ])
    const names = Object.entries(document.components.schemas).filter(([name]) =>
      /(Inputs|Arguments|Result|^User|^Message|^Organization|^Problem)$/.test(name),
    )
    const fields = names.flatMap(([, { properties }]) => Object.keys(Object(properties)))
    const codes = Object.values(document.components.responses).flatMap((response) =>
      (response['x-problems'] ?? []).map(({ code }) => code),
    )
    const said = [...words, ...fields, ...codes]
    expect(said.length).toBeGreaterThan(200)
    expect(said.filter((word) => !text.includes(word))).toEqual([])
  })

  it('marks required fields, secrets, and fields that may name a variable', () => {
    const rowOf = (field: string) => {
      const [, inputs = ''] = page.split('id="mailer-DEPLOYMENT_CREATED"')
      const rows = inputs.split('<tr role="row">').map((row) => toText(row).replaceAll(/\s+/g, ' '))
      return rows.find((row) => row.trim().startsWith(field))
    }
    expect(rowOf('apiToken')).toMatch(/sensitive ?or {{env\.NAME}}/)
    expect(rowOf('serverType')).toMatch(/shared dedicated Default "shared"/)
    const [, provisioned = ''] = page.split('id="idp-server-DEPLOYMENT_CREATED"')
    expect(toText(provisioned)).toMatch(/applicationName\s*required/)
  })

  it('has a command for each event and function, with the example of the document', () => {
    const examples = Object.values(document.paths).flatMap(({ post }) =>
      Object.values(post?.requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => value),
    )
    const bodies = commandsOf(page).flatMap((command) => {
      const [, body] = /-d '(\{.*\})'$/s.exec(command) ?? []
      return body === undefined ? [] : [JSON.parse(body)]
    })
    for (const body of bodies) expect(examples).toContainEqual(body)
    // Those of the provisioned provider are the other’s, and five events are the same on every route.
    expect(bodies.length).toBeGreaterThan(20)
  })

  it('has each command in TypeScript, too', async () => {
    const sent: unknown[] = []
    const record = async (url: string, init: RequestInit) => {
      sent.push(`${url} ${init.body}`)
      return Response.json({})
    }
    const programs = examplesOf(page, 'typescript').filter((text) => !text.startsWith('import'))
    for (const text of programs) {
      await new Function('fetch', 'console', `return (async () => { ${text} })()`)(record, { log: () => {} })
    }
    const commands = commandsOf(page).flatMap((command) => {
      const [, url, body] = /^curl (\S+) .* -d '(\{.*\})'$/s.exec(command) ?? []
      return body === undefined ? [] : [`${url} ${JSON.stringify(JSON.parse(body))}`]
    })
    expect(sent).toEqual(commands)
    expect(sent.length).toBeGreaterThan(20)
  })

  it('has a response for each command, as the document describes it', () => {
    const validate = createValidator(document)
    const shapes = Object.keys(document.components.schemas).filter((name) => name.endsWith('Response'))
    const responses = examplesOf(page, 'response')
    expect(responses.length).toBe(examplesOf(page, 'typescript').length - 1)
    for (const text of responses) {
      const response: unknown = JSON.parse(text)
      const fits = shapes.filter((name) => validate(`#/components/schemas/${name}`, response).length === 0)
      expect({ text, fits }).not.toEqual({ text, fits: [] })
    }
    expect(responses.find((text) => text.includes('messageId'))).toContain('"to": "ada@example.com"')
  })

  it('names types as JSON Schema does', () => {
    const types = [...page.matchAll(/class="type">(.*?)<\/td>/gs)].map(([, type = '']) => toText(type).trim())
    expect(types.filter((type) => /text|yes|list of|whole|anything/.test(type))).toEqual([])
    expect(types).toEqual(
      expect.arrayContaining(['string', 'boolean', 'object of strings', 'string (date-time)']),
    )
  })

  it('shows the origin that its reader uses', async () => {
    expect(commandsOf(page).filter((command) => !command.includes('curl https://host.example/'))).toEqual([])
    const plain = await get('http://10.0.0.1:3009/docs')
    expect(await plain.text()).toContain('curl http://10.0.0.1:3009/mailer/webhook')
    const behindProxy = await get('http://app.example/docs', { 'x-forwarded-proto': 'https' })
    expect(await behindProxy.text()).toContain('curl https://app.example/mailer/webhook')
  })

  it('has no broken link and no duplicate id', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(targets.filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('a browser', () => {
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

  it('may run and show only the content of the page', () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? []
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page) ?? []
    expect(policy).toBe(
      [
        "default-src 'none'",
        `style-src ${hashOf(style)}`,
        `script-src ${hashOf(script)}`,
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
    )
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
          effect: true,
          arguments: z.object({ [hostile]: z.literal(hostile) }),
          result: z.object({ [hostile]: z.string() }),
        },
      },
      metrics: { [hostile]: { description: hostile, unit: hostile } },
      downloads: [],
    })
    const info = { title: hostile, version: hostile, description: hostile }
    const shown = await renderPage(toOpenApi([integration], info))
    expect(shown).not.toContain('<img')
    expect(shown.match(/<script/g)).toHaveLength(1)
    expect(toText(shown)).toContain(`onerror=alert(1)`)
  })
})

const tools = ['bash', 'openssl', 'curl', 'base64', 'od']
const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)

it.skipIf(missing.length > 0)('the command of the page makes a valid signature', async () => {
  const { host: signed } = startHost({ variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } })
  const server = await serve(async (request) => signed.fetch(request))
  const command = commandsOf(await (await fetch(`${server.url}/docs`)).text())
    .find((each) => each.includes('openssl'))
    ?.replace('SECRET=whsec_…', `SECRET=${credentials.webhookSecret}`)
  const run = async (script = '') => {
    const { stdout } = await promisify(execFile)('bash', ['-c', `${script} --silent --show-error`])
    return JSON.parse(stdout)
  }
  try {
    expect(await run(command)).toMatchObject({ status: 'healthy' })
    expect(await run(command?.replace('v1,', 'v1,A'))).toMatchObject({ code: 'invalid_signature' })
  } finally {
    await server.close()
  }
})
