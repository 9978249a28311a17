import { deliver } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Expectation, Walk } from '../src/walk/walks.ts'
import { runSandbox, serveForTest, webhookSecret } from './fixtures.ts'

function walkOf(expectation: Expectation): Walk {
  const inputs = { apiToken: 'a-secret-token', serverType: 'dedicated' }
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } } as const
  return { route: 'mailer', title: 'A test', steps: [{ title: 'A step', event, expect: expectation }] }
}

describe('the walk', () => {
  let secrets: readonly string[] = []
  let logged: unknown[][] = []
  let webhooks: string[] = []
  let whole: Awaited<ReturnType<typeof runSandbox>>
  beforeAll(async () => {
    const log = vi.spyOn(console, 'log')
    whole = await runSandbox({
      environment: { PLATFORM_WEBHOOK_SECRET: webhookSecret },
      visit: async ({ url, secrets: configured, manifests }) => {
        const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
        webhooks = Object.keys(paths).filter((path) => path.endsWith('/webhook'))
        expect(new Set(manifests.map(({ webhook }) => webhook))).toEqual(new Set(webhooks))
        secrets = configured
      },
    })
    logged = log.mock.calls
    log.mockRestore()
  })

  it('passes on every route from the first step to the last, with signed events', () => {
    const { code, output, errors } = whole
    expect(output).toMatch(/✓ [4-9]\d steps passed, 0 failed/)
    for (const webhook of webhooks) expect(output).toContain(`✓ ${webhook.replace('/webhook', '')}`)
    expect(output).not.toContain('✗')
    expect(output).toContain('delivery evt_order · signed')
    expect([errors, code]).toEqual(['', 0])
  })

  it('shows the calls of each event, with long lists and ids in short', () => {
    const text = whole.output.replaceAll(/ +/g, ' ')
    expect(text).toContain('sendEmails · 1,203 messages · deployment dep_mailer')
    expect(text.match(/provider 200 POST \/email\/batch/g)?.length).toBeGreaterThanOrEqual(3)
    expect(text).toContain('POST /email/batch 203 items')
    expect(text).toMatch(/\/v1\/users\/user_\w{4}…\/metadata/)
  })

  it('prints no log lines of the host and no secret', () => {
    expect(logged).toEqual([])
    expect(secrets.length).toBeGreaterThan(3)
    expect(secrets.filter((secret) => whole.output.includes(secret))).toEqual([])
    expect(whole.output).not.toMatch(/a-token-with-a-typo|sk_(test|live)_\w/)
  })
})

describe('a start', () => {
  it('shows a line for each route, and the steps that fail, without their secrets', async () => {
    const broken: Walk = {
      ...walkOf({ says: '' }),
      steps: walkOf({ says: 'never' }).steps.map((step) => ({
        ...step,
        prepare: () => {
          throw new Error('A mistake in the walk.')
        },
      })),
    }
    const wish = walkOf({ says: 'a wish', body: { status: 'dancing' } })
    const fine = walkOf({ says: 'refused', status: 422 })
    const { code, output } = await runSandbox({ walk: false, walks: [broken, wish, fine] })
    expect(output.split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining([
        '✗ never',
        'A mistake in the walk.',
        '✗ a wish',
        'expected {"status":200,"body":{"status":"dancing"}}',
        'found {"status":422,"body":{"status":422}}',
        expect.stringMatching(/^✗ \/mailer +0 of 1 steps/),
        expect.stringMatching(/^✓ \/mailer +1 of 1 steps/),
        expect.stringContaining('1 steps passed, 2 failed'),
      ]),
    )
    expect(output).not.toContain('a-secret-token')
    expect(output).not.toContain('✓ refused')
    expect(code).toBe(1)
  })

  it('leaves real providers alone', async () => {
    const mail = createMailProvider({ apiTokens: ['the-real-token'], senders: ['shop.example'] })
    const identity = createPlatformApi({ accessTokens: ['the-real-access-token'] })
    const { publishableKey, secretKey } = identity.backend.instance
    const identityUrl = (await serveForTest(identity.fetch)).url
    const environment = {
      MAILER_SHARED_API_TOKEN: 'the-real-token',
      MAILER_SHARED_FROM_EMAIL: 'hello@shop.example',
      MAILER_API_BASE: (await serveForTest(mail.fetch)).url,
      IDP_SHARED_PUBLISHABLE_KEY: publishableKey,
      IDP_SHARED_SECRET_KEY: secretKey,
      IDP_API_BASE: `${identityUrl}/v1`,
    }
    const { code, output } = await runSandbox({ environment, walk: false })
    expect(output).toMatch(/✓ \/auth.*\n\n✓ 3 steps passed, 0 failed/)
    const changes = [...mail.calls, ...identity.calls].filter(({ method }) => method !== 'GET')
    expect([changes, code]).toEqual([[], 0])
  })

  it.each([
    [{ PORT: 'three' }, 'PORT: expected a port'],
    [{ IDP_SHARED_PUBLISHABLE_KEY: 'pk_test_x' }, 'It also needs IDP_SHARED_SECRET_KEY.'],
    [{ IDP_SHARED_SECRET_KEY: 'sk_test_x' }, 'It also needs IDP_SHARED_PUBLISHABLE_KEY.'],
    [{ MAILER_SHARED_API_TOKEN: 'x', MAILER_SHARED_FROM_EMAIL: ' ' }, 'needs MAILER_SHARED_FROM_EMAIL.'],
  ])('names the variable that is wrong or missing: %o', async (environment, message) => {
    const { code, output, errors } = await runSandbox({ environment })
    expect(errors).toContain(message)
    expect([output, code]).toEqual(['', 1])
  })
})

describe('a running host', () => {
  it('says where it is, and shows a call from outside, without its token and its control characters', async () => {
    const { code, output } = await runSandbox({
      walks: [],
      visit: async ({ url, mail, platform }) => {
        const args = { to: mail.to, subject: 'Hi', textBody: 'Hi' }
        const event = { name: 'FUNCTION_CALL', functionCall: { name: 'sendEmail', arguments: args } }
        const { status } = await deliver(fetch, event, { url: `${url}/mailer/webhook` })
        expect(status).toBe(200)
        const inputs = { serverType: 'dedicated', apiToken: 'token-of-a-caller' }
        const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
        await deliver(fetch, created, { url: `${url}/mailer/webhook` })
        // The platform knows every deployment that an event creates.
        expect(platform.deployments.get('dep_mine')).toMatchObject({ status: 'failed' })
        await deliver(fetch, { name: '\u001b[2J\u009b' }, { url: `${url}/mailer/webhook` })
      },
    })
    expect(output).toMatch(/ {2}Docs {2}http:\/\/localhost:\d+\/docs /)
    expect(output).toContain('a call from outside')
    expect(output).toMatch(/provider +200 +POST +\/email/)
    expect(output).toContain('deployment dep_mine')
    expect(output).not.toContain('token-of-a-caller')
    expect(output).toContain('·[2J·')
    expect(code).toBe(0)
  })
})
