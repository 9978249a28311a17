import { describe, expect, it } from 'vitest'
import { countTimed, type Reading, renderReadings } from '../src/prometheus.ts'
import { calling, mail, readSeries, startMeasured } from './measured.ts'

const countJobs = (buckets: number[] = [0.1, 1]) =>
  countTimed({ name: 'job', what: 'Jobs', labels: ['queue', 'kind'], buckets })

describe('what is counted', () => {
  it('is written as a counter by outcome, and as a histogram', () => {
    const jobs = countJobs()
    jobs.add(['mail', 'send'], 'ok', 0.1)
    jobs.add(['mail', 'send'], 'failed', 0.5)
    jobs.add(['mail', 'send'], 'ok', 4)
    jobs.add(['mail', 'read'], 'ok', 0)
    expect(jobs.render().split('\n')).toEqual([
      '# HELP jobs_total Jobs.',
      '# TYPE jobs_total counter',
      'jobs_total{queue="mail",kind="send",outcome="ok"} 2',
      'jobs_total{queue="mail",kind="send",outcome="failed"} 1',
      'jobs_total{queue="mail",kind="read",outcome="ok"} 1',
      '# HELP job_duration_seconds Jobs: how long they took.',
      '# TYPE job_duration_seconds histogram',
      'job_duration_seconds_bucket{queue="mail",kind="send",le="0.1"} 1',
      'job_duration_seconds_bucket{queue="mail",kind="send",le="1"} 2',
      'job_duration_seconds_bucket{queue="mail",kind="send",le="+Inf"} 3',
      'job_duration_seconds_sum{queue="mail",kind="send"} 4.6',
      'job_duration_seconds_count{queue="mail",kind="send"} 3',
      'job_duration_seconds_bucket{queue="mail",kind="read",le="0.1"} 1',
      'job_duration_seconds_bucket{queue="mail",kind="read",le="1"} 1',
      'job_duration_seconds_bucket{queue="mail",kind="read",le="+Inf"} 1',
      'job_duration_seconds_sum{queue="mail",kind="read"} 0',
      'job_duration_seconds_count{queue="mail",kind="read"} 1',
      '',
    ])
  })

  it('keeps labels apart whose words, joined, would be the same', () => {
    const jobs = countJobs()
    jobs.add(['a,b', 'c'], 'ok', 0)
    jobs.add(['a', 'b,c'], 'ok', 0)
    expect(readSeries(jobs.render()).filter(({ name }) => name === 'jobs_total')).toHaveLength(2)
  })

  it('is one line, whatever the words are', () => {
    const jobs = countJobs()
    const word = 'a"} 1\n# b\\'
    jobs.add([word, ''], 'ok', 0)
    expect(jobs.render()).toContain('jobs_total{queue="a\\"} 1\\n# b\\\\",kind="",outcome="ok"} 1\n')
  })
})

it('what is read is read at each time, alone or in several series', async () => {
  let size = 1
  const readings: Reading[] = [
    { name: 'size', help: 'How many.', type: 'gauge', read: () => size },
    { name: 'later', help: 'How many, later.', type: 'gauge', read: async () => size },
    { name: 'by', help: 'By kind.', type: 'counter', read: () => [[{ kind: 'a' }, size]] },
  ]
  await renderReadings(readings)
  size = 2
  expect(await renderReadings(readings)).toBe(
    '# HELP size How many.\n# TYPE size gauge\nsize 2\n' +
      '# HELP later How many, later.\n# TYPE later gauge\nlater 2\n' +
      '# HELP by By kind.\n# TYPE by counter\nby{kind="a"} 2\n',
  )
})

it('everything of a host is in Prometheus’ text format, each metric described once', async () => {
  const { get, send } = startMeasured()
  await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
  const lines = (await (await get('/metrics')).text()).split('\n')
  expect(lines.pop()).toBe('')
  const described: string[] = []
  for (const line of lines) {
    const [, name] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? []
    if (name !== undefined) described.push(name)
    else if (!line.startsWith('# HELP ')) {
      expect(line).toMatch(/^\w+(\{\w+="[^"\n]*"(,\w+="[^"\n]*")*\})? [\d.e+-]+$/)
      // A metric's lines stand together, below its description.
      expect(line.replace(/[{ ].*$/, '').replace(/_(bucket|sum|count)$/, '')).toBe(described.at(-1))
    }
  }
  expect(new Set(described).size).toBe(described.length)
  expect(described.length).toBeGreaterThan(15)
})
