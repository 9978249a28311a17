/** The alerts of a host: its samples, with the time compressed, in a test of `promtool`. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Between two samples, as Prometheus sees them. */
const INTERVAL = '30s'
const rules = new URL('../../../docs/alerts.yml', import.meta.url).pathname
const target = 'job="integration-host",instance="host-1:3009"'

/** Keeps the samples of one host. */
export function createSamples(readMetrics: () => Promise<string>) {
  /** The values of each series, by its selector. `_` is no sample. */
  const series = new Map<string, string[]>()
  let count = 0

  function put(selector: string, value: string): void {
    const values = series.get(selector) ?? []
    series.set(selector, values)
    while (values.length < count) values.push('_')
    values.push(value)
  }

  return {
    /** Scrapes the host once. */
    async take(): Promise<void> {
      const page = await readMetrics().catch(() => undefined)
      put(`up{${target}}`, page === undefined ? '0' : '1')
      for (const [, name, labels, value = ''] of page?.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm) ?? [])
        put(`${name}{${[target, labels].filter(Boolean).join(',')}}`, value.replace('Nan', 'NaN'))
      count += 1
    },

    /**
     * Evaluates a query after the last sample, with the alert rules of the docs.
     *
     * @param file is written for `promtool`
     * @returns the labels and the value of each result, in a line
     */
    async ask(expr: string, file: string): Promise<string[]> {
      const inputs = [...series].map(([selector, values]) => ({ series: selector, values: values.join(' ') }))
      const seconds = (count - 1) * Number.parseInt(INTERVAL, 10)
      // The test expects nothing, so that promtool tells what it got.
      const test = { expr, eval_time: `${seconds}s`, exp_samples: [] }
      const tests = [{ interval: INTERVAL, input_series: inputs, promql_expr_test: [test] }]
      await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: INTERVAL, tests }))
      const told = await promisify(execFile)('promtool', ['test', 'rules', file]).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      )
      const [, got = ''] = /^ +got: (.*)$/m.exec(told) ?? []
      if (told && !got) throw new Error(`promtool: ${told}`)
      return got.split(/(?<=\} \S+), /).filter(Boolean)
    },
  }
}
