import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { deliveryStatusSchema } from '@org/core/internal'
import { serve } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { calling, mail, mailDeployment, startHost } from './hosted.ts'
import { startMeasured } from './measured.ts'

const file = (name: string) => new URL(`../../../docs/${name}`, import.meta.url).pathname
const read = (name: string) => readFileSync(file(name), 'utf8')
const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool) process.stderr.write('SKIPPED: the cases of docs/alerts.test.yml. They need promtool.\n')
const page = read('signals.md')
const alerts = read('alerts.yml')
const dashboard: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(
  read('grafana-dashboard.json'),
)

const shown = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
)
const alerted = [...alerts.matchAll(/- alert: (\w+)\n(?: +#.*\n)* +expr: (.+)\n/g)].map(
  ([, name = '', expr = '']) => [name, expr] as const,
)
const metricsOf = (query: string) => query.match(/\b(webhook|process|nodejs)_\w+/g) ?? []

const measured = startMeasured()
measured.world.platform.addDeployment(mailDeployment('dep_1'))
await measured.send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') })
await measured.send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
const series = await measured.read()

describe.each([
  ['docs/grafana-dashboard.json', shown],
  ['docs/alerts.yml', alerted],
])('every query of %s', (_, queries) => {
  it.each(queries)('asks for metrics and labels that a host has, of one job: %s', (__, query) => {
    // Prometheus itself has `up`.
    const selectors = query.match(/\b((webhook|process|nodejs)_\w+|up)\b(\{job=~?")?/g) ?? []
    expect(selectors.filter((selector) => !selector.includes('job='))).toEqual([])
    if (/\bup\{/.test(query)) return
    const named = metricsOf(query).map((metric) => series.filter(({ name }) => name === metric))
    expect(named.length).toBeGreaterThan(0)
    for (const found of named) expect(found, query).not.toEqual([])
    // Every scrape adds these.
    const labels = new Set(['job', 'instance', ...named.flat().flatMap((each) => Object.keys(each.labels))])
    const compared = [...query.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
    const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */))
    for (const label of [...compared, ...grouped]) expect([...labels]).toContain(label)
  })
})

describe('docs/alerts.yml', () => {
  it('has a case for each alert', () => {
    const cases = read('alerts.test.yml')
    for (const [name] of alerted) expect(cases).toContain(`- alertname: ${name}\n`)
  })

  it.skipIf(!hasPromtool)('fires in each of its cases, and not in an ordinary hour', () => {
    const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file('alerts.test.yml')])
    expect([status, String(stderr)], String(stdout)).toEqual([0, ''])
  })
})

describe('docs/signals.md', () => {
  it('lists every metric of the host with its labels, and the dashboard shows each', () => {
    const queried = shown.flatMap(([, query]) => metricsOf(query))
    for (const { name, labels } of series.filter((each) => each.name.startsWith('webhook_'))) {
      const family = name.replace(/_(bucket|sum|count)$/, '')
      const row = page.split('\n').find((line) => line.startsWith(`| \`${family}\` |`))
      expect(row, family).toBeDefined()
      for (const label of Object.keys(labels).filter((each) => each !== 'le'))
        expect(row).toContain(`\`${label}\``)
      if (!/_(sum|count)$/.test(name)) expect(queried).toContain(name)
    }
  })

  it('says what to do about every alert', () => {
    expect(alerted.map(([name]) => name)).toEqual(
      [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name),
    )
    for (const [name] of alerted) {
      expect(page).toContain(`\n### ${name}\n`)
      expect(alerts).toContain(`runbook: docs/signals.md#${name.toLowerCase()}\n`)
    }
  })

  const deliveryStatus = z.object({ id: z.string(), records: z.array(deliveryStatusSchema) })
  const findBlock = (language: string, words: string) => {
    const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))
    return [...blocks].map(([, text = '']) => text).find((text) => text.includes(words)) ?? ''
  }
  it('has a command that reads the status of a delivery', async () => {
    const OPERATOR_TOKEN = 'operator-token-of-this-host'
    const { host, send } = startHost({ variables: { OPERATOR_TOKEN } })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    const server = await serve(async (request) => host.fetch(request))
    const env = { ...process.env, HOST_URL: server.url, OPERATOR_TOKEN }
    const command = findBlock('sh', '/deliveries/')
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { env })
    await server.close()
    const { id, records } = deliveryStatus.parse(JSON.parse(stdout))
    expect([id, records[0]?.state]).toEqual(['evt_1', 'done'])
  })

  it('shows a delivery status of the right shape', () => {
    const strict = deliveryStatus.extend({ records: z.array(deliveryStatusSchema.strict()) })
    expect(strict.safeParse(JSON.parse(findBlock('json', '"records"')))).toMatchObject({ success: true })
  })
})
