/** The files that an operator uses: the dashboard, the alerts, the runbook, the manifest of Kubernetes and the unit. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { deliveryStatusSchema } from '@org/core/hosting'
import { serve } from '@org/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { panels } from '../../../docs/grafana-dashboard.ts'
import { readConfig } from '../src/config.ts'
import { createMetrics } from '../src/metrics.ts'
import { variables } from '../src/variables.ts'
import { calling, credentials, mail, mailDeployment, production, startHost } from './hosted.ts'

const file = (name: string) => new URL(`../../../docs/${name}`, import.meta.url).pathname
const read = (name: string) => readFileSync(file(name), 'utf8')
/** A test that needs a program. */
function itWith(program: string) {
  const isThere = spawnSync(program, ['--version']).status === 0
  if (!isThere) process.stderr.write(`SKIPPED: a part of signals.test.ts. It needs ${program}.\n`)
  return it.skipIf(!isThere)
}
/** Runs a program to its end. @returns its exit code, its output and its errors */
function run(program: string, args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const page = read('signals.md')
const alerts = read('alerts.yml')
const shown = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))
/** Queries that alerts name. */
const recorded = [...alerts.matchAll(/- record: (\S+)\n +expr: (.+)\n/g)]
const alerted = [...alerts.matchAll(/- alert: (\w+)\n(?: +#.*\n)* +expr: (.+)\n/g)].map(
  ([, name = '', expr = '']) => {
    const whole = recorded.reduce((query, [, record = '', of = '']) => query.replaceAll(record, of), expr)
    return [name, whole] as const
  },
)
/** The first block of each alert in the runbook. */
const commands = [...page.matchAll(/^### (\w+)\n\n```(sh|promql)\n(.+)\n```$/gm)]
const asked = commands.flatMap(([, name = '', language, command = '']) =>
  language === 'promql' ? [[name, command] as const] : [],
)
const metricsOf = (query: string) => query.match(/\b(webhook|process|nodejs)_\w+/g) ?? []

const { operatorToken: OPERATOR_TOKEN, webhookSecret: PLATFORM_WEBHOOK_SECRET } = credentials
const { world, host, send, get } = startHost({ createMetrics, variables: { OPERATOR_TOKEN } })
const deployment = { ...mailDeployment('dep_1'), owner: 'cust_7' }
world.platform.addDeployment(deployment)
await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment })
await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
world.mail.faults.add({ method: 'POST', status: 500 })
await send('mailer', { ...calling('sendEmail', mail), deployment })
const scraped = await (await get('/metrics', { authorization: `Bearer ${OPERATOR_TOKEN}` })).text()
/** The labels of each series of the host, by its name. */
const series = new Map<string, Set<string>>()
for (const [, name = '', labels = ''] of scraped.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
  const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label)
  series.set(name, new Set([...(series.get(name) ?? []), ...names]))
}

describe('the queries of the dashboard, the alerts and the runbook', () => {
  it.each([...shown, ...alerted, ...asked])(
    'ask for metrics and labels that a host has, of one job: %s',
    (_, query) => {
      // Prometheus itself has `up`.
      const selectors = query.match(/\b((webhook|process|nodejs)_\w+|up)\b(\{job=~?")?/g) ?? []
      expect(selectors.filter((selector) => !selector.includes('job='))).toEqual([])
      if (/\bup\{/.test(query)) return
      const named = metricsOf(query)
      expect(named.length).toBeGreaterThan(0)
      expect(named.filter((name) => !series.has(name))).toEqual([])
      // Every scrape adds these.
      const labels = new Set(['job', 'instance', ...named.flatMap((name) => [...(series.get(name) ?? [])])])
      const compared = [...query.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
      const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */))
      expect([...compared, ...grouped].filter((label) => !labels.has(label))).toEqual([])
    },
  )

  itWith('promtool')('fire in each case of docs/alerts.test.yml, and not in an ordinary hour', () => {
    const { status, stdout, stderr } = run('promtool', ['test', 'rules', file('alerts.test.yml')])
    expect([status, stderr], stdout).toEqual([0, ''])
  })
})

describe('docs/signals.md', () => {
  it('lists every metric of the host with its labels, and the dashboard shows each', () => {
    const queried = shown.flatMap(([, query]) => metricsOf(query))
    for (const [name, labels] of series) {
      if (!name.startsWith('webhook_')) continue
      const family = name.replace(/_(bucket|sum|count)$/, '')
      const row = page.split('\n').find((line) => line.startsWith(`| \`${family}\` |`))
      for (const label of labels) if (label !== 'le') expect(row, family).toContain(`\`${label}\``)
      if (!/_(sum|count)$/.test(name)) expect(queried).toContain(name)
    }
  })

  it('says what to do about every alert, and each has a case', () => {
    expect(alerted).toHaveLength(alerts.match(/alert: \w+/g)?.length ?? 0)
    for (const [name] of alerted) {
      expect(commands.map(([, of]) => of)).toContain(name)
      expect(alerts).toContain(`runbook: docs/signals.md#${name.toLowerCase()}\n`)
      expect(read('alerts.test.yml')).toContain(`- alertname: ${name}\n`)
    }
  })

  itWith('jq')(
    'has commands whose filters jq takes, and which find the lines in question behind one that is no JSON',
    () => {
      const facts = { level: 'error', reason: 'The cause.', owner: 'cust_7', deployment: 'dep_1' }
      const filters = [...(page + read('operations.md')).matchAll(/jq (-\w+) '([^']+)'/g)]
      expect(filters.length).toBeGreaterThan(10)
      for (const [, flags = '', filter = ''] of filters) {
        const code = /\.code == "(\w+)"/.exec(filter)?.[1] ?? 'outcome_unknown'
        const line = JSON.stringify({ code, shortage: 'EMFILE', clock: 'x', ...facts })
        // A configuration that is refused is plain text.
        const { stdout, stderr } = run('jq', [flags, filter], `The configuration has one fault:\n${line}`)
        expect([stderr, stdout !== ''], filter).toEqual(['', true])
      }
    },
  )

  it('has a command that reads the status of a delivery, and shows one of that shape', async () => {
    const status = z.object({ id: z.string(), records: z.array(deliveryStatusSchema.strict()) })
    const blockOf = (pattern: RegExp) => pattern.exec(page)?.[1] ?? ''
    expect(status.safeParse(JSON.parse(blockOf(/```json\n(\{[^`]*"records"[^`]*)```/)))).toHaveProperty(
      'data',
    )
    const server = await serve(async (request) => host.fetch(request))
    const env = { ...process.env, HOST_URL: server.url, OPERATOR_TOKEN }
    const command = blockOf(/```sh\n([^`]*\/deliveries\/[^`]*)```/)
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { env })
    await server.close()
    expect(status.parse(JSON.parse(stdout))).toMatchObject({ id: 'evt_1', records: [{ state: 'done' }] })
  })
})

it('the log counts refused requests for each peer and kind, and those of the last minute when the host stops', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const lines: unknown[] = []
  const variables = { PLATFORM_WEBHOOK_SECRET }
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const { host } = startHost({ variables, logger: (_, message, facts) => lines.push({ message, ...facts }) })
  lines.length = 0
  const refuse = (path: string) => host.fetch(new Request(`http://host.test${path}`, sent), '192.0.2.1')
  for (const path of ['/mailr/webhook', '/mailer/webhook', '/mailer/webhook', '/mailer/webhook'])
    await refuse(path)
  const unsigned = { code: 'invalid_signature', peer: '192.0.2.1' }
  expect(lines).toMatchObject([{ path: '/mailr/webhook' }, unsigned])
  vi.advanceTimersByTime(60_000)
  for (let count = 0; count < 3; count += 1) await refuse('/mailer/webhook')
  await host.drain()
  expect(lines.slice(2)).toMatchObject([
    { ...unsigned, requests: 3 },
    { ...unsigned, requests: 2 },
  ])
})

/** The seconds in which a host with these variables stops at the latest. */
function longestStop(given: Record<string, string>): number {
  const { drainDelayMs, requestTimeoutMs } = readConfig({ PLATFORM_WEBHOOK_SECRET, ...given })
  return (Math.max(drainDelayMs, 6_000) + requestTimeoutMs) / 1_000 + 2
}

it('docs/kubernetes.yml selects its hosts, sets known variables, asks for routes, and gives the time to stop', async () => {
  const documents = parseAllDocuments(read('kubernetes.yml'), { strict: true })
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
  const [workload, service, budget] = documents.map((document) => document.toJS())
  expect([workload.kind, service.kind, budget.kind]).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
  const { metadata, spec } = workload.spec.template
  const { matchLabels } = workload.spec.selector
  const selectors = [matchLabels, service.spec.selector, budget.spec.selector.matchLabels]
  expect(selectors).toEqual(Array(3).fill(metadata.labels))

  const [{ env, ports, livenessProbe, readinessProbe }] = spec.containers
  const environment = Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value]))
  const secrets = [...read('kubernetes.yml').matchAll(/--from-literal=(\w+)/g)].map(([, name]) => name)
  const known = Object.keys(variables.shape)
  expect(known).toEqual(expect.arrayContaining([...Object.keys(environment), ...secrets]))
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(longestStop(environment))
  expect(ports).toEqual([{ name: 'http', containerPort: variables.shape.PORT.parse(undefined) }])
  for (const { httpGet } of [livenessProbe, readinessProbe]) {
    expect(httpGet.port).toBe('http')
    expect((await get(httpGet.path)).status).toBe(200)
  }
})

it('docs/integration-host.service lets the host write the folder of its store, and gives it the time to stop', () => {
  const text = read('integration-host.service')
  const settingOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
  expect(text).toContain(`DELIVERY_STORE=sqlite:/var/lib/${settingOf('StateDirectory')}/deliveries.db\n`)
  const inProduction = { ...production, PLATFORM_API_URL: 'https://x.test' }
  expect(Number(settingOf('TimeoutStopSec'))).toBeGreaterThanOrEqual(longestStop(inProduction))
})

itWith('systemd-analyze')(
  'docs/integration-host.service is rated below 2 by systemd-analyze security',
  () => {
    const parameters = ['security', '--offline=true', '--threshold=20', '--no-pager']
    const { status, stdout } = run('systemd-analyze', [...parameters, file('integration-host.service')])
    expect(status, stdout).toBe(0)
  },
)
