import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pause } from '../clock.ts'
import { sendEmail } from '../events.ts'
import type { Scenario } from '../scenario.ts'
import { type Incident, incidents } from './incidents.ts'
import { createSamples } from './prometheus.ts'
import { createStage } from './stage.ts'

/** Between two samples; Prometheus sees thirty seconds. */
const SAMPLE_MS = 500
const SAMPLES_BEFORE = 8
/** Twenty minutes: longer than the window and the delay of any alert. */
const SAMPLES_DURING = 40
const AT_A_TIME = 3
const FIRED = 'count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))'
const LONGEST_CELL = 160
const runbook = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
const commands = [...runbook.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)

export const drill: Scenario = {
  name: 'drill',
  shows: 'fifteen incidents on a built host: each has an alert, and a command of the runbook names its cause',
  async run(found, { say, only }) {
    const cases = Object.entries(incidents).filter(([name]) => name.includes(only))
    const rows = new Map(cases.map(([name]) => [name, '']))
    const queue = cases.values()
    const work = async () => {
      for (const [name, incident] of queue) {
        const report = (violation: unknown) => void found.violations.push(`${name}: ${violation}`)
        const cells = await rehearse(incident, report).catch(report)
        rows.set(
          name,
          `| ${[name, ...(cells ?? [])].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
        )
        say(`${name}: ${found.violations.length} violations so far`)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    const head = '| Incident | Alerts | Line | Field of the command | Its answer |\n|---|---|---|---|---|'
    console.log(['', head, ...rows.values(), ''].join('\n'))
  },
}

/** Causes an incident, and returns its row of the table: the alerts, the line, the command, and what it answers. */
async function rehearse(incident: Incident, report: (violation: string) => void): Promise<string[]> {
  const { alert, says, command: field = 'reason', prepare, during } = incident
  const stage = await createStage()
  const samples = createSamples(stage.readMetrics)
  try {
    const cause = await prepare(stage)
    stage.start()
    await stage.isReady()
    const metric = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    for (let sample = 0; sample < SAMPLES_BEFORE + SAMPLES_DURING; sample += 1) {
      if (sample === SAMPLES_BEFORE) await cause()
      if (sample > SAMPLES_BEFORE) during?.(stage)
      stage.send('auth', { name: 'HEALTH_CHECK' })
      stage.send('mailer', metric)
      stage.send('mailer', sendEmail('mail').event)
      await Promise.all([samples.take(), pause(SAMPLE_MS)])
    }
    const series = await samples.ask(FIRED, join(stage.folder, 'samples.json'))
    const fired = series.map((each) => /alertname="(\w+)"/.exec(each)?.[1] ?? each)
    if (!fired.includes(alert)) report(`no ${alert}, but ${fired}`)
    const command = commands.find((text) => text.includes('host.log') && text.includes(`.${field}`))
    const { stdout } = await promisify(execFile)('bash', ['-c', command ?? 'exit 1'], { cwd: stage.folder })
    const answer = stdout.split('\n').find((line) => says.test(line))
    if (!answer) report(`the command does not name the cause: ${stdout}`)
    const lines = readFileSync(stage.log, 'utf8').split('\n')
    const line = lines.find((each) => says.test(each) && !each.includes('"level":"info"'))
    return [fired.join(', '), shorten(line ?? '–'), field, shorten(answer ?? '–')]
  } finally {
    await stage.close()
  }
}

/** Leaves out what differs from line to line. */
function shorten(line: string): string {
  const {
    level,
    message,
    code,
    reason,
    detail,
    notes = [],
  } = line.startsWith('{') ? JSON.parse(line) : { message: line }
  const why = reason ?? detail ?? notes[0]?.reason
  const text = [level, message, code, why].filter(Boolean).join(' · ').trim()
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text
}
