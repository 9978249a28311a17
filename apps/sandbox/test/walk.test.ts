import { deliver } from '@org/core/testing'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { check } from '../src/check.ts'
import { walks } from '../src/walk/index.ts'
import type { Walk } from '../src/walk/step.ts'
import { quickWalks, realMail, runSandbox, serveForTest } from './arrangement.ts'

const steps = walks.flatMap((walk) => walk.steps).length
const quickSteps = quickWalks.flatMap((walk) => walk.steps).length
const webhookSecret = `whsec_${btoa('a secret of the platform')}`

function walkOf(expectation: Walk['steps'][number]['expect']): Walk {
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs: {} } } as const
  return { route: 'mailer', title: 'A test', steps: [{ title: 'A step', event, expect: expectation }] }
}

describe('the walk', () => {
  let secrets: readonly string[] = []
  let logged: unknown[][] = []
  let whole: Awaited<ReturnType<typeof runSandbox>>
  beforeAll(async () => {
    const log = vi.spyOn(console, 'log')
    whole = await runSandbox({
      visit: async ({ secrets: configured, idp, platform }) => {
        const provisioned = String(platform.deployments.get('dep_portal')?.outputs.secretKey)
        secrets = [...configured, provisioned, String(idp.emulator?.instance.secretKey)]
      },
    })
    logged = log.mock.calls
    log.mockRestore()
  })

  it('passes from end to end, and says so', () => {
    const { code, output, errors } = whole
    expect(output).toContain(`${steps} steps passed, 0 failed`)
    expect(output).not.toContain('✗')
    expect(errors).toBe('')
    expect(code).toBe(0)
  })

  it('shows a long list as what it comes to, and the calls to the provider that it took', () => {
    const text = whole.output.replaceAll(/\s+/g, ' ')
    expect(text).toContain('1,203 results: 1,200 sent, 3 failed')
    expect(text.match(/provider POST \/email\/batch 200/g)).toHaveLength(3)
    expect(text).toContain('203 messages, 203 accepted')
  })

  it('goes to every route that the host has', async () => {
    let webhooks: string[] = []
    await runSandbox({
      walks: [],
      visit: async ({ url }) => {
        const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
        webhooks = Object.keys(paths).filter((path) => path.endsWith('/webhook'))
      },
    })
    expect(walks.map(({ route }) => `/${route}/webhook`)).toEqual(webhooks)
  })

  it('shows the first lines of a file, without the secret in it', () => {
    expect(whole.output).toContain("│ CLERK_SECRET_KEY='sk_test_[redacted]'\n")
    expect(whole.output).toContain('│ export default clerkMiddleware()\n      │ …\n')
  })

  it('shows which key is in the wrong field, and no secret key', () => {
    const text = whole.output.replaceAll(/\s+/g, ' ')
    expect(text).toContain('publishableKey: "sk_test_[redacted]", secretKey: "pk_test_')
  })

  it('keeps the host’s log out of the way', () => {
    expect(logged).toEqual([])
    expect(whole.output).not.toContain('"level"')
  })

  it('prints none of the tokens that it made up', () => {
    expect(secrets.filter((secret) => secret.startsWith('sk_test_')).length).toBeGreaterThan(1)
    for (const secret of secrets) expect(whole.output).not.toContain(secret)
  })

  it('passes with signed events where there is a webhook secret', async () => {
    const { code, output } = await runSandbox({
      environment: { PLATFORM_WEBHOOK_SECRET: webhookSecret },
      walks: quickWalks,
    })
    expect(output).toContain(`${quickSteps} steps passed, 0 failed`)
    expect(output).toMatch(/delivery evt_order_1 · signed/)
    expect(code).toBe(0)
  })

  it('passes in production’s shell, because it is no production', async () => {
    const run = await runSandbox({ environment: { NODE_ENV: 'production' }, walks: quickWalks })
    expect(run).toMatchObject({ code: 0, errors: '' })
  })
})

describe('a step that fails', () => {
  it('makes the run fail, and shows what was wanted and what was found', async () => {
    const { code, output } = await runSandbox({
      walks: [walkOf(({ answer }) => [check('a wish', answer, { body: { status: 'dancing' } })])],
    })
    expect(output).toContain('✗ a wish')
    expect(output).toContain('expected { body: { status: "dancing" } }')
    expect(output).toContain('found    { body: { status: "running" } }')
    expect(output).toContain('0 steps passed, 1 failed')
    expect(code).toBe(1)
  })

  it('makes the run fail where its expectation throws, and the next steps still run', async () => {
    const broken = walkOf(() => {
      throw new Error('A mistake in the walk.')
    })
    const { code, output } = await runSandbox({ walks: [broken, ...quickWalks] })
    expect(output).toContain('✗ A mistake in the walk.')
    expect(output).toContain(`${quickSteps} steps passed, 1 failed`)
    expect(code).toBe(1)
  })
})

describe('a start that fails', () => {
  it('explains a port that is taken, in one line', async () => {
    const other = await serveForTest(async () => new Response())
    const { code, output, errors } = await runSandbox({ environment: { PORT: String(other.port) } })
    expect(errors).toMatch(new RegExp(`^[^\n]*port ${other.port}: something else listens there[^\n]*\n$`))
    expect(output).toBe('')
    expect(code).toBe(1)
  })

  it('names the variable that can’t be used', async () => {
    const { code, errors } = await runSandbox({ environment: { PORT: 'three' } })
    expect(errors).toContain('PORT: expected a port')
    expect(code).toBe(1)
  })
})

describe('secrets', () => {
  it('are never printed, in passing and in failing steps', async () => {
    const { token, environment } = await realMail()
    const revealing = walkOf((exchange, { secrets, platform }) => [
      check('secrets', [...secrets], 'none'),
      check('answer', exchange.answer, 'none'),
      check('outputs', platform.deployments.get('dep_1')?.outputs, 'none'),
    ])
    const { output } = await runSandbox({
      environment: { ...environment, PLATFORM_WEBHOOK_SECRET: webhookSecret },
      walks: [...quickWalks, revealing],
    })
    expect(output).toContain('found    { apiToken: "[redacted]"')
    expect(output).not.toContain(token)
    expect(output).not.toContain(webhookSecret)
    expect(output).not.toContain('a-token-with-a-typo')
  })
})

describe('a host that stays up', () => {
  it('answers the printed call, unsigned, and shows it', async () => {
    const { code, output } = await runSandbox({
      walks: [],
      visit: async ({ url, mail }) => {
        const event = {
          name: 'FUNCTION_CALL',
          functionCall: { name: 'sendEmail', arguments: { to: mail.to, subject: 'Hi', textBody: 'Hi' } },
        }
        const { status } = await deliver(fetch, event, { url: `${url}/mailer/webhook` })
        expect(status).toBe(200)
        expect(mail.emulator?.messages).toHaveLength(1)
      },
    })
    expect(output).toMatch(/curl http:\/\/localhost:\d+\/mailer\/webhook/)
    expect(output).toContain('a call from outside')
    expect(output).toMatch(/provider +POST +\/email 200/)
    expect(code).toBe(0)
  })

  it('knows a deployment that a caller makes up, and keeps the caller’s token off the screen', async () => {
    const { output } = await runSandbox({
      walks: [],
      visit: async ({ url, platform }) => {
        const inputs = { serverType: 'dedicated', apiToken: 'token-of-a-caller' }
        const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
        await deliver(fetch, event, { url: `${url}/mailer/webhook` })
        expect(platform.deployments.get('dep_mine')).toMatchObject({ status: 'failed' })
      },
    })
    expect(output).toContain('deployment dep_mine')
    expect(output).not.toContain('token-of-a-caller')
  })

  it('shows control characters instead of obeying them', async () => {
    const { output } = await runSandbox({
      walks: [],
      visit: async ({ url }) => {
        await deliver(fetch, { name: '\u001b[2J\u009b' }, { url: `${url}/mailer/webhook` })
      },
    })
    expect(output).toContain('·[2J·')
  })

  it('refuses unsigned calls where there is a webhook secret, and says why the printed one would not do', async () => {
    const { output } = await runSandbox({
      environment: { PLATFORM_WEBHOOK_SECRET: webhookSecret },
      walks: [],
      visit: async ({ url }) => {
        const { status } = await deliver(
          fetch,
          { name: 'WEBHOOK_CHALLENGE' },
          { url: `${url}/mailer/webhook` },
        )
        expect(status).toBe(401)
      },
    })
    expect(output).toContain('It takes signed events alone')
  })
})

describe('the terminal', () => {
  it.each([40, 62])('is never overrun at %i characters', async (width) => {
    const { output } = await runSandbox({ width, walks: quickWalks })
    const longest = Math.max(...output.split('\n').map((line) => [...line].length))
    expect(longest).toBeLessThanOrEqual(width)
  })

  it('has room for every title at 80 characters', async () => {
    const { output } = await runSandbox({ width: 80, walks: quickWalks })
    const titles = quickWalks.flatMap((walk) => [walk.title, ...walk.steps.map(({ title }) => title)])
    expect(titles.filter((title) => !output.includes(title))).toEqual([])
  })
})
