import { deliver } from '@org/core/testing'
import { expect, it, vi } from 'vitest'
import { type RunOptions, run } from '../src/run.ts'
import type { Step, Walk } from '../src/walk/walks.ts'
import type { World } from '../src/world/world.ts'
import { webhookSecret as secret } from './fixtures.ts'

/** Runs the sandbox on free ports. With `visit`, the host keeps running until that is done; else it ends. */
async function runSandbox(options: Partial<RunOptions>, visit?: (world: World) => Promise<void>) {
  let output = ''
  const end = new AbortController()
  let visited: Promise<void> | undefined
  const code = await run({
    environment: { PORT: '0', PLATFORM_WEBHOOK_SECRET: secret },
    terminal: { write: (text) => (output += text), colours: false },
    once: visit === undefined,
    signal: end.signal,
    onReady(world) {
      visited = visit?.(world).finally(() => end.abort())
    },
    ...options,
  })
  await visited
  return { code, output }
}

it('the walk passes on every route, with signed events, and shows calls from outside, no log of the host and no secret', async () => {
  const log = vi.spyOn(console, 'log')
  let routes: string[] = []
  const secrets = ['token-of-a-caller']
  const { code, output } = await runSandbox({}, async ({ url, platform, secrets: configured }) => {
    const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
    routes = Object.keys(paths).flatMap((path) => /^(.*)\/webhook$/.exec(path)?.[1] ?? [])
    secrets.push(...configured)
    const inputs = { serverType: 'dedicated', apiToken: secrets[0] }
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
    for (const event of [created, { name: `\u001b[2J\u009b${configured[0]}` }])
      await deliver(fetch, event, { url: `${url}/mailer/webhook`, secret })
    // The platform knows every deployment that an event creates.
    expect(platform.deployments.get('dep_mine')).toMatchObject({ status: 'failed' })
  })
  expect(output).toMatch(/✓ [4-9]\d steps passed, 0 failed/)
  expect(output).toMatch(/ {2}Docs {2}http:\/\/localhost:\d+\/docs /)
  expect(output).toMatch(/• \/mailer DEPLOYMENT_CREATED dep_mine → 422 .* ms, from outside/)
  expect(output).toContain('·[2J·[redacted]')
  expect(Math.min(routes.length, secrets.length)).toBeGreaterThan(3)
  expect(routes.filter((route) => !output.includes(`✓ ${route} `))).toEqual([])
  expect(secrets.filter((secret) => output.includes(secret))).toEqual([])
  expect([code, log.mock.calls]).toEqual([0, []])
  log.mockRestore()
})

it('a start shows a line for each route, and the steps that fail, without their secrets', async () => {
  const inputs = { apiToken: 'a-secret-token', serverType: 'dedicated' }
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } } as const
  const walkOf = (more: Partial<Step>): Walk => ({
    ...{ route: 'mailer', title: 'A test', steps: [{ title: 'A step', event, ...more }] },
  })
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
