import { describe, expect, it } from 'vitest'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted } from './example.ts'

const deployment = { id: 'dep_1' }

describe.each([
  { what: 'fails', fault: { status: 503 } },
  { what: 'is cut', fault: { cut: 'before' } },
] as const)('a callback that $what', ({ fault }) => {
  it.each([
    { what: 'status', path: /status$/, event: created },
    { what: 'status', path: /status$/, event: deleted },
    { what: 'status', path: /status$/, event: { name: 'HEALTH_CHECK', deployment } },
    { what: 'log', path: /logs$/, event: created },
    { what: 'metrics', path: /metrics$/, event: { name: 'METRIC_UPDATE', deployment } },
  ])(
    'never fails $event.name where it is the $what, and leaves a line in the log',
    async ({ path, event }) => {
      const host = createHost()
      host.platform.faults.add({ path, ...fault, times: 10 })
      expect((await deliver(host.handle, event)).status).toBe(200)
      const warnings = host.lines.filter(({ level }) => level === 'warn')
      expect(warnings.length).toBeGreaterThan(0)
      expect(warnings[0]?.message).toMatch(/^The platform was not told the (status “\w+”|log|metrics)\.$/)
    },
  )

  it('does not take the later ones with it', async () => {
    const host = createHost()
    host.platform.faults.add({ path: /status$/, ...fault })
    await deliver(host.handle, created)
    expect(host.platform.deployments.get('dep_1')).toMatchObject({
      status: 'running',
      logs: [{ level: 'info' }],
    })
  })

  it('fails DEPLOYMENT_CREATED where it is the outputs, which then is not “running”', async () => {
    const host = createHost()
    host.platform.faults.add({ path: /outputs$/, ...fault })
    expect(await deliver(host.handle, created)).toMatchObject({
      status: 502,
      body: { code: 'platform_unavailable', retryable: true },
    })
    expect(host.platform.deployments.get('dep_1')?.status).toBe('deploying')
    expect((await deliver(host.handle, created)).body).toMatchObject({ status: 'running' })
  })
})

describe('a platform that no longer knows the deployment', () => {
  const gone = () => {
    const host = createHost()
    host.platform.removeDeployment('dep_1')
    return host
  }

  it('has DEPLOYMENT_CREATED ignored, and is not told that it runs', async () => {
    const { handle, told } = gone()
    expect(await deliver(handle, created)).toMatchObject({ status: 200, body: { status: 'ignored' } })
    expect(told()).not.toContain('PUT /deployments/dep_1/status running')
  })

  it('fails none of the other events', async () => {
    const { handle } = gone()
    for (const event of [
      deleted,
      { name: 'HEALTH_CHECK', deployment },
      { name: 'METRIC_UPDATE', deployment },
      { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1' } },
      { ...calling('greet', { to: 'Ada' }), deployment },
    ]) {
      expect((await deliver(handle, event)).status).toBe(200)
    }
  })
})
