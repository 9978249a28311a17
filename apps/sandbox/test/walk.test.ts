import { deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import type { Step, Walk } from '../src/walk/walks.ts'
import { runSandbox, webhookSecret } from './fixtures.ts'

function walkOf(more: Partial<Step>): Walk {
  const inputs = { apiToken: 'a-secret-token', serverType: 'dedicated' }
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } } as const
  return { route: 'mailer', title: 'A test', steps: [{ title: 'A step', event, ...more }] }
}

describe('the walk', () => {
  it('passes on every route, with signed events, and prints no log line of the host and no secret', async () => {
    const log = vi.spyOn(console, 'log')
    let routes: string[] = []
    let secrets: readonly string[] = []
    const { code, output } = await runSandbox({
      environment: { PLATFORM_WEBHOOK_SECRET: webhookSecret },
      visit: async ({ url, secrets: configured }) => {
        const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
        routes = Object.keys(paths).flatMap((path) => /^(.*)\/webhook$/.exec(path)?.[1] ?? [])
        secrets = configured
      },
    })
    expect(output).toMatch(/✓ [4-9]\d steps passed, 0 failed/)
    expect(routes.length).toBeGreaterThan(3)
    expect(routes.filter((route) => !output.includes(`✓ ${route} `))).toEqual([])
    expect([code, log.mock.calls]).toEqual([0, []])
    log.mockRestore()
    expect(secrets.length).toBeGreaterThan(3)
    expect(secrets.filter((secret) => output.includes(secret))).toEqual([])
  })
})

describe('a start', () => {
  it('shows a line for each route, and the steps that fail, without their secrets', async () => {
    const prepare = () => {
      throw new Error('A mistake in the walk.')
    }
    const walks = [walkOf({ prepare }), walkOf({ body: { status: 'dancing' } }), walkOf({ status: 422 })]
    const { code, output } = await runSandbox({ walks })
    expect(output.split('\n').map((line) => line.trim())).toEqual([
      'The sandbox: a platform, its events, and the host that acts on them',
      '✗ /mailer DEPLOYMENT_CREATED  A step',
      'A mistake in the walk.',
      '✗ /mailer     0 of 1 steps  A test',
      '✗ /mailer DEPLOYMENT_CREATED  A step',
      expect.stringMatching(/^• \/mailer DEPLOYMENT_CREATED dep_1 → 422 credentials_rejected {2}\d+ ms$/),
      'expected {"status":200,"body":{"status":"dancing"}}',
      'found {"status":422,"body":{"status":422}}',
      '✗ /mailer     0 of 1 steps  A test',
      '✓ /mailer     1 of 1 steps  A test',
      '',
      expect.stringMatching(/^✗ 1 steps passed, 2 failed/),
      '',
    ])
    expect(code).toBe(1)
  })
})

describe('a running host', () => {
  it('says where it is, and shows a call from outside, without control characters', async () => {
    const { code, output } = await runSandbox({
      walks: [],
      visit: async ({ url, platform }) => {
        const inputs = { serverType: 'dedicated', apiToken: 'token-of-a-caller' }
        const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
        await deliver(fetch, created, { url: `${url}/mailer/webhook` })
        // The platform knows every deployment that an event creates.
        expect(platform.deployments.get('dep_mine')).toMatchObject({ status: 'failed' })
        await deliver(fetch, { name: '\u001b[2J\u009b' }, { url: `${url}/mailer/webhook` })
      },
    })
    expect(output).toMatch(/ {2}Docs {2}http:\/\/localhost:\d+\/docs /)
    expect(output).toMatch(/• \/mailer DEPLOYMENT_CREATED dep_mine → 422 .* ms, from outside/)
    expect(output).toContain('·[2J·')
    expect(code).toBe(0)
  })
})
