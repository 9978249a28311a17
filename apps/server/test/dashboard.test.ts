import { readFileSync } from 'node:fs'
import { errorCodes } from '@org/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { calling, mail, mailDeployment, type Series, startMeasured } from './measured.ts'
import { readQuery } from './promql.ts'

const read = (file: string) => readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')

const target = z.object({ expr: z.string() })
const dashboard = z
  .object({
    templating: z.object({
      list: z.array(z.looseObject({ name: z.string(), definition: z.string().optional() })),
    }),
    panels: z.array(
      z.object({
        id: z.int(),
        type: z.enum(['row', 'timeseries', 'stat', 'table']),
        title: z.string(),
        gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
        targets: z.array(target).default([]),
      }),
    ),
  })
  .parse(JSON.parse(read('grafana-dashboard.json')))
const alerts = read('alerts.yml')

const shown = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => [title, expr] as const),
)
const alerted = [...alerts.matchAll(/- alert: (\w+)\n(?: +#.*\n)* +expr: (.+)\n/g)].map(
  ([, name = '', expr = '']) => [name, expr] as const,
)

/** What every scrape adds. */
const OF_THE_SCRAPE = ['instance', 'job']
const FUNCTIONS = ['sum', 'min', 'rate', 'increase', 'changes', 'histogram_quantile', 'topk']

let series: Series[]
let words: Set<string>

beforeAll(async () => {
  const { world, send, read: readMetrics } = startMeasured()
  world.platform.addDeployment(mailDeployment('dep_1'))
  await send('mailer', { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') })
  await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
  await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
  await send('auth', { name: 'METRIC_UPDATE' })
  series = await readMetrics()
  // Failures are counted by their codes, and a call that was not made by this.
  const seldom = [...Object.keys(errorCodes), 'circuit_open']
  words = new Set([...series.flatMap(({ labels }) => Object.values(labels)), ...seldom])
})

describe.each([
  ['docs/grafana-dashboard.json', shown],
  ['docs/alerts.yml', alerted],
])('every query of %s', (_, queries) => {
  it.each(queries)('asks for what a host shows: %s', (__, text) => {
    const { selectors, grouping, functions } = readQuery(text)
    expect(selectors.length).toBeGreaterThan(0)
    expect(FUNCTIONS).toEqual(expect.arrayContaining(functions))
    const known = selectors.map(({ metric }) => series.filter(({ name }) => name === metric))
    for (const [at, { metric, conditions }] of selectors.entries()) {
      const labels = (known[at] ?? []).flatMap(({ labels }) => Object.keys(labels))
      expect(known[at], `${metric} does not exist`).not.toEqual([])
      for (const condition of conditions) {
        expect(labels, `${metric} has no such label`).toContain(condition.label)
        for (const word of condition.words) expect(words, `${condition.label} is never so`).toContain(word)
      }
      const counts = /_(total|bucket|sum|count)$/.test(metric)
      expect(
        /\b(rate|increase)\(/.test(text),
        `${metric} ${counts ? 'only grows' : 'goes up and down'}`,
      ).toBe(counts)
    }
    const labels = known.flat().flatMap((each) => Object.keys(each.labels))
    for (const label of grouping) expect([...labels, ...OF_THE_SCRAPE]).toContain(label)
    expect(functions.includes('histogram_quantile')).toBe(grouping.includes('le'))
  })
})

describe('the dashboard', () => {
  it('has a row for each part of a host, and no two panels in one place', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
    expect(rows).toEqual([
      'Traffic',
      'Failures by code',
      'Latency',
      'Providers and the platform',
      'In flight and store',
      'Process',
    ])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  it('lets its reader choose the data source, and a route that exists', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'route'])
    expect(dashboard.templating.list[1]?.definition).toBe('label_values(webhook_events_total, route)')
  })

  it('shows every metric of the host', () => {
    const asked = new Set(shown.flatMap(([, text]) => readQuery(text).selectors.map(({ metric }) => metric)))
    const own = series.map(({ name }) => name).filter((name) => /^webhook_.*(?<!_sum|_count)$/.test(name))
    expect([...asked]).toEqual(expect.arrayContaining([...new Set(own)]))
  })
})

it('every alert has a query, and a page on what to do about it', () => {
  expect(alerted.map(([name]) => name)).toEqual([...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name))
  const page = read('signals.md')
  for (const [name] of alerted) expect(page).toContain(`\`${name}\``)
})
