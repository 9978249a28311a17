/** The dashboard of Grafana: `node docs/grafana-dashboard.ts > dashboard.json` writes the file to import. */

const job = 'job=~"$job"'
const route = `${job},route=~"$route"`
const failures =
  'internal_error|provider_error|provider_timeout|provider_rate_limited|platform_unavailable|overloaded|outcome_unknown|unknown'
const kind = 'route, event, function'

// Each helper adds the prefix and the suffix of the metric, by the conventions of Prometheus.
const sum = (by: string, what: string) => `sum by (${by}) (${what})`
const gauge = (name: string, where = job) => `${name}{${where}}`
const rate = (name: string, by: string, where = job) =>
  sum(by, `rate(webhook_${name}_total{${where}}[$__rate_interval])`)
const quantile = (share: number, name: string, by: string, where = job) =>
  `histogram_quantile(${share}, ${sum(by, `rate(webhook_${name}_seconds_bucket{${where}}[$__rate_interval])`)})`

type Panel = [title: string, unit: 'bytes' | 'percentunit' | 'reqps' | 's' | 'short', ...queries: string[]]

const rows: Record<string, Panel[]> = {
  Traffic: [
    ['Events', 'reqps', rate('events', 'route, event', route)],
    ['Outcomes', 'reqps', rate('events', 'outcome', route)],
    ['Functions', 'reqps', rate('events', 'route, function', `${route},event="FUNCTION_CALL"`)],
  ],
  'Failures by code, which docs/signals.md explains': [
    ['Problems', 'reqps', rate('events', 'outcome', `${route},outcome!~"ok|partial|ignored|replayed"`)],
    [
      'Share of failures',
      'percentunit',
      `${rate('events', kind, `${route},outcome=~"${failures}"`)} / ${rate('events', kind, route)}`,
    ],
    [
      'Where',
      'short',
      `topk(15, ${sum(`${kind}, outcome`, `increase(webhook_events_total{${route},outcome!~"ok|ignored|replayed"}[$__range])`)} > 0)`,
    ],
    ['Messages by fate', 'reqps', rate('messages', 'route, fate', route)],
    ['Owners of failed calls', 'reqps', rate('owner_calls', 'route, owner, outcome', route)],
  ],
  Latency: [
    ['Events', 's', ...[0.5, 0.95, 0.99].map((share) => quantile(share, 'event_duration', 'le', route))],
    ['Events at the 95th percentile', 's', quantile(0.95, 'event_duration', `le, ${kind}`, route)],
    ['Callbacks at the 95th percentile', 's', quantile(0.95, 'platform_request_duration', 'le, callback')],
  ],
  'Providers and the platform': [
    ['Provider calls', 'reqps', rate('provider_requests', 'integration, outcome')],
    [
      'Provider calls at the 95th percentile',
      's',
      quantile(0.95, 'provider_request_duration', 'le, integration, method'),
    ],
    [
      'Circuits that are not closed',
      'short',
      sum('integration, state', gauge('webhook_provider_circuits', `${job},state!="closed"`)),
    ],
    ['Callbacks', 'reqps', rate('platform_requests', 'callback, outcome')],
    ['Refused credentials', 'reqps', rate('provider_credentials_rejected', 'integration, owner')],
  ],
  'In flight, and the store': [
    ['Events in flight, of 500', 'short', gauge('webhook_events_in_flight')],
    ['Store: 1 if it takes writes', 'short', gauge('webhook_store_reachable')],
    ['Shortages of the host', 'reqps', rate('host_shortages', 'instance, resource')],
    ['Hosts by version', 'short', sum('version', gauge('webhook_build_info'))],
  ],
  Process: [
    ['Processor, in cores', 'short', `rate(${gauge('process_cpu_seconds_total')}[$__rate_interval])`],
    ['Memory', 'bytes', gauge('process_resident_memory_bytes'), gauge('nodejs_heap_size_used_bytes')],
    ['Delay of timers at the 99th percentile', 's', gauge('nodejs_eventloop_lag_p99_seconds')],
    ['Open files', 'short', gauge('process_open_fds')],
    ['Restarts', 'short', `changes(${gauge('process_start_time_seconds')}[$__interval])`],
  ],
}

/** Names series by the labels that their query groups them by. */
function legendOf(query: string): string {
  const labels = /by \(([^)]*)\)/.exec(query)?.[1]?.split(', ') ?? ['instance', '__name__']
  const names = labels.filter((label) => label !== 'le').map((label) => `{{${label}}}`)
  return names.join(' ') || query.slice(query.indexOf('(') + 1, query.indexOf(','))
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** Every panel, row by row. */
export const panels = Object.entries(rows).flatMap(([title, row], index) => {
  const w = Math.floor(24 / row.length)
  const y = index * 9
  const charts = row.map(([title, unit, ...queries], at) => ({
    title,
    type: title === 'Where' ? 'table' : 'timeseries',
    datasource,
    gridPos: { x: at * w, y: y + 1, w, h: 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map((expr, number) => ({
      datasource,
      expr,
      refId: `query ${number + 1}`,
      ...(title === 'Where' ? { format: 'table', instant: true } : { legendFormat: legendOf(expr) }),
    })),
  }))
  return [{ title, type: 'row', gridPos: { x: 0, y, w: 24, h: 1 }, panels: [], targets: [] }, ...charts]
})

/** A variable of the dashboard, with a query for its values. */
const variable = (name: string, query: string) => ({
  ...{ name, type: 'query', datasource, query: { query, refId: name } },
  ...{ includeAll: true, multi: true, allValue: '.*', refresh: 2 },
})

if (import.meta.main) {
  const list = [
    { name: 'datasource', type: 'datasource', query: 'prometheus' },
    variable('job', 'label_values(webhook_build_info, job)'),
    variable('route', `label_values(webhook_events_total{${job}}, route)`),
  ]
  const head = { title: 'Integration host', uid: 'integration-host', schemaVersion: 39, refresh: '30s' }
  const dashboard = { ...head, time: { from: 'now-3h', to: 'now' }, templating: { list }, panels }
  process.stdout.write(`${JSON.stringify(dashboard, null, 2)}\n`)
}
