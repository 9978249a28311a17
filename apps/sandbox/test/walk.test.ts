import { deliver } from '@org/core/testing'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { walks } from '../src/walk/index.ts'
import type { Step, Walk } from '../src/walk/step.ts'
import { realMail, runSandbox, webhookSecret } from './fixtures.ts'

const steps = walks.flatMap((walk) => walk.steps).length

function walkOf(expectation: Step['expect']): Walk {
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: {} } } as const
  return { route: 'mailer', title: 'A test', steps: [{ title: 'A step', event, expect: expectation }] }
}

describe('the walk', () => {
  let secrets: readonly string[] = []
  let logged: unknown[][] = []
  let webhooks: string[] = []
  let whole: Awaited<ReturnType<typeof runSandbox>>
  let text = ''
  beforeAll(async () => {
    const log = vi.spyOn(console, 'log')
    whole = await runSandbox({
      visit: async ({ url, secrets: configured, idp, platform }) => {
        const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
        webhooks = Object.keys(paths).filter((path) => path.endsWith('/webhook'))
        const provisioned = String(platform.deployments.get('dep_portal')?.outputs.secretKey)
        secrets = [...configured, provisioned, String(idp.emulator?.instance.secretKey)]
      },
    })
    text = whole.output.replaceAll(/\s+/g, ' ')
    logged = log.mock.calls
    log.mockRestore()
  })

  it('passes from the first step to the last', () => {
    const { code, output, errors } = whole
    expect(output).toContain(`${steps} steps passed, 0 failed`)
    expect(output).not.toContain('✗')
    expect(errors).toBe('')
    expect(code).toBe(0)
  })

  it('shows long lists and ids in short, and a secret key in the wrong field without its value', () => {
    expect(text).toContain('sendEmails · 1,203 messages · deployment dep_shop')
    expect(text.match(/provider 200 POST \/email\/batch/g)).toHaveLength(3)
    expect(text).toContain('POST /email/batch 203 items')
    expect(text).toMatch(/\/v1\/users\/user_\w{4}…\/metadata/)
    expect(text).toContain('dedicated · sk_test_[redacted] · deployment dep_studio')
  })

  it('covers every route of the host', () => {
    expect(new Set(walks.map(({ route }) => `/${route}/webhook`))).toEqual(new Set(webhooks))
  })

  it('prints no log lines of the host and no token', () => {
    expect(logged).toEqual([])
    expect(secrets.filter((secret) => secret.startsWith('sk_test_')).length).toBeGreaterThan(1)
    for (const secret of secrets) expect(whole.output).not.toContain(secret)
  })

  it('stays within a terminal of 40 characters', async () => {
    const { output } = await runSandbox({ width: 40, walks: walks })
    const longest = Math.max(...output.split('\n').map((line) => [...line].length))
    expect(longest).toBeLessThanOrEqual(40)
  })
})

describe('a failing step', () => {
  it('fails the run, and shows the expected and the found values, and the next steps still run', async () => {
    const broken = walkOf(() => {
      throw new Error('A mistake in the walk.')
    })
    const wish = walkOf({ says: 'a wish', body: { status: 'dancing' } })
    const { code, output } = await runSandbox({ walks: [broken, wish, walkOf({ says: 'running' })] })
    expect(output).toContain('✗ A mistake in the walk.')
    expect(output).toContain('✗ a wish')
    expect(output).toContain('expected {"status":200,"body":{"status":"dancing"}}')
    expect(output).toContain('found    {"status":200,"body":{"status":"running"}}')
    expect(output).toContain('1 steps passed, 2 failed')
    expect(code).toBe(1)
  })

  it('prints no secrets', async () => {
    const { token, environment } = await realMail()
    const revealing = walkOf(({ secrets, platform }, { response }) => ({
      says: 'running',
      also: [
        ['secrets', [...secrets], 'none'],
        ['response', response, 'none'],
        ['outputs', platform.deployments.get('dep_1')?.outputs, 'none'],
      ],
    }))
    const { output } = await runSandbox({
      environment: { ...environment, PLATFORM_WEBHOOK_SECRET: webhookSecret },
      walks: [...walks, revealing],
    })
    expect(output).toContain('found    {"apiToken":"[redacted]"')
    for (const secret of [token, webhookSecret, 'a-token-with-a-typo']) expect(output).not.toContain(secret)
  })
})

describe('a start', () => {
  it('shows a line for each route, and only the steps that fail', async () => {
    const failing = walkOf({ says: 'a wish', body: { status: 'dancing' } })
    const { output } = await runSandbox({ walk: false, walks: [...walks.slice(0, 1), failing] })
    expect(output.split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^✓ \/auth +3 of 3 steps/),
        '✗ a wish',
        expect.stringMatching(/^✗ \/mailer +0 of 1 steps/),
      ]),
    )
    expect(output).not.toContain('WEBHOOK_CHALLENGE')
  })

  it('names an invalid variable', async () => {
    const { code, errors } = await runSandbox({ environment: { PORT: 'three' } })
    expect(errors).toContain('PORT: expected a port')
    expect(code).toBe(1)
  })
})

describe('a running host', () => {
  it('says where it is, and shows a call from outside', async () => {
    const { code, output } = await runSandbox({
      walks: [],
      visit: async ({ url, mail }) => {
        const args = { to: mail.to, subject: 'Hi', textBody: 'Hi' }
        const event = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: args } }
        const { status } = await deliver(fetch, event, { url: `${url}/mailer/webhook` })
        expect(status).toBe(200)
        expect(mail.emulator?.messages).toHaveLength(1)
      },
    })
    expect(output).toMatch(/ {2}Docs {2}http:\/\/localhost:\d+\/docs /)
    expect(output).toContain('a call from outside')
    expect(output).toMatch(/provider +200 +POST +\/email/)
    expect(code).toBe(0)
  })

  it('knows the deployment of a caller, and prints neither its token nor control characters', async () => {
    const { output } = await runSandbox({
      walks: [],
      visit: async ({ url, platform }) => {
        const inputs = { serverType: 'dedicated', apiToken: 'token-of-a-caller' }
        const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
        await deliver(fetch, event, { url: `${url}/mailer/webhook` })
        expect(platform.deployments.get('dep_mine')).toMatchObject({ status: 'failed' })
        await deliver(fetch, { name: '\u001b[2J\u009b' }, { url: `${url}/mailer/webhook` })
      },
    })
    expect(output).toContain('deployment dep_mine')
    expect(output).not.toContain('token-of-a-caller')
    expect(output).toContain('·[2J·')
  })
})
