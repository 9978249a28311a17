/** The files that an operator copies: the manifest of Kubernetes, and the unit of systemd. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { readConfig } from '../src/config.ts'
import { variables } from '../src/variables.ts'
import { startHost } from './hosted.ts'

const fileOf = (name: string) => new URL(`../../../docs/${name}`, import.meta.url).pathname
const read = (name: string) => readFileSync(fileOf(name), 'utf8')
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) process.stderr.write('SKIPPED: the rating of the unit. It needs systemd-analyze.\n')

/** The seconds in which a host with these variables stops at the latest. */
function longestStop(given: Record<string, string>): number {
  const secret = `whsec_${btoa('a secret of the platform')}`
  const { drainDelayMs, requestTimeoutMs } = readConfig({ PLATFORM_WEBHOOK_SECRET: secret, ...given })
  return (drainDelayMs + requestTimeoutMs) / 1_000 + 2
}

describe('docs/kubernetes.yml', () => {
  const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) })
  const container = z.object({
    env: z.array(z.object({ name: z.string(), value: z.string() })),
    ports: z.tuple([z.object({ name: z.literal('http'), containerPort: z.number() })]),
    livenessProbe: probe,
    readinessProbe: probe,
  })
  const labels = z.record(z.string(), z.string())
  const deployment = z.object({
    spec: z.object({
      template: z.object({
        metadata: z.object({ labels }),
        spec: z.object({ terminationGracePeriodSeconds: z.number(), containers: z.tuple([container]) }),
      }),
    }),
  })
  const documents = parseAllDocuments(read('kubernetes.yml'), { strict: true })
  const [workload, service, budget] = documents.map((document) => document.toJS())
  const { metadata, spec } = deployment.parse(workload).spec.template
  const [{ env, ports, livenessProbe, readinessProbe }] = spec.containers
  const environment = Object.fromEntries(env.map(({ name, value }) => [name, value]))

  it('has three documents without a fault, which select the same hosts', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect([workload.kind, service.kind, budget.kind]).toEqual([
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ])
    for (const selected of [
      workload.spec.selector.matchLabels,
      service.spec.selector,
      budget.spec.selector.matchLabels,
    ])
      expect(selected).toEqual(metadata.labels)
  })

  it('sets variables that the host knows, and gives it the time to stop', () => {
    expect(Object.keys(variables.shape)).toEqual(expect.arrayContaining(Object.keys(environment)))
    for (const [, name] of read('kubernetes.yml').matchAll(/--from-literal=(\w+)/g))
      expect(Object.keys(variables.shape)).toContain(name)
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(longestStop(environment))
  })

  it('asks for routes of the host at its port', async () => {
    const { get } = startHost()
    for (const { httpGet } of [livenessProbe, readinessProbe])
      expect((await get(httpGet.path)).status).toBe(200)
    expect(ports[0].containerPort).toBe(variables.shape.PORT.parse(undefined))
  })
})

describe('docs/integration-host.service', () => {
  const unit = new Map(
    read('integration-host.service')
      .split('\n')
      .filter((line) => /^[A-Z]\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

  it('lets the host write the folder of its store, and gives it the time to stop', () => {
    expect(read('integration-host.service')).toContain(
      `DELIVERY_STORE=sqlite:/var/lib/${unit.get('StateDirectory')}/deliveries.db\n`,
    )
    const production = {
      NODE_ENV: 'production',
      PLATFORM_API_URL: 'https://x.test',
      CORS_ORIGINS: 'https://x.test',
    }
    expect(Number(unit.get('TimeoutStopSec'))).toBeGreaterThanOrEqual(longestStop(production))
  })

  it.skipIf(!hasSystemd)('is rated below 2 by systemd-analyze security', () => {
    const parameters = ['security', '--offline=true', '--threshold=20', '--no-pager']
    const { status, stdout } = spawnSync('systemd-analyze', [
      ...parameters,
      fileOf('integration-host.service'),
    ])
    expect(status, String(stdout)).toBe(0)
  })
})
