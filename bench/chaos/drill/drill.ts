import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pause } from '../../shared/clock.ts'
import { type Findings, unless } from '../checks.ts'
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
const FIRED = 'count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1h]))'
const LONGEST_FIGURE = 300
const runbook = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
const commands = [...runbook.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)

export const drill: Scenario = {
  name: 'drill',
  shows: 'fifteen incidents on a built host: each has an alert, and a command of the runbook names its cause',
  atATime: 3,
  cases: () =>
    Object.fromEntries(
      Object.entries(incidents).map(([name, incident]) => [
        name,
        (found: Findings) => rehearse(incident, found),
      ]),
    ),
}

/** Causes an incident, and compares the alerts that fire and the answer of the runbook's command with what they should be. */
async function rehearse(incident: Incident, { figures, violations }: Findings): Promise<void> {
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
    const command = commands.find((text) => text.includes('host.log') && text.includes(`.${field}`))
    const { stdout } = await promisify(execFile)('bash', ['-c', command ?? 'exit 1'], { cwd: stage.folder })
    const answer = stdout.split('\n').find((line) => says.test(line))
    violations.push(
      ...unless(fired.includes(alert), `no ${alert}, but ${fired}`),
      ...unless(answer !== undefined, `the command does not name the cause: ${stdout}`),
    )
    const lines = readFileSync(stage.log, 'utf8').split('\n')
    const line = lines.find((each) => says.test(each) && !each.includes('"level":"info"'))
    figures.alerts = fired.join(', ')
    figures['line of the log'] = `${line}`.slice(0, LONGEST_FIGURE)
    figures[`answer of the command that reads ${field}`] = `${answer?.trim()}`.slice(0, LONGEST_FIGURE)
  } finally {
    await stage.close()
  }
}
