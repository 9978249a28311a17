/**
 * Fuzzes the host: `node --conditions=@org/source apps/server/test/fuzz-run.ts --minutes 10 --seed 7`.
 *
 * Half of the time, random requests go to a host in this process, and each response must keep the rules. It ends
 * with the smallest request that breaks one. The other half, large requests go to the host that ships, and none may
 * stall it or fill its memory: each alone, a few at a time, and crowds of them. Then slow connections beside
 * signed events.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { fuzz } from './fuzzing.ts'
import { hostileCrowds, namedRequests, sampleRequests } from './hostile-sizes.ts'
import { outlastSlowClients } from './slow-clients.ts'
import { isTooMuch, type Stall, startWatched, targets } from './stalls.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'rules,sizes,slow' },
  },
})
const kinds = values.only.split(',')
const shareMs = (Number(values.minutes) * 60_000) / kinds.filter((kind) => kind !== 'slow').length
const print = (text: string) => process.stdout.write(`${text}\n`)
/** Requests per host, because its emulators remember every call. */
const ROUND = 2_000
/** Large requests at a time, once each was sent alone. */
const AT_A_TIME = 3
const show = ({ name, answers, tookMs, stallMs, healthMs, memoryMb }: Stall) =>
  [
    ...[
      `stall ${stallMs.toFixed()} ms`,
      `/healthz ${healthMs.toFixed()} ms`,
      `memory ${memoryMb.toFixed()} MB`,
    ],
    ...[`took ${tookMs.toFixed()} ms`, `[${answers}]`, name],
  ].join('  ')

async function checkRules(end: number): Promise<void> {
  // The pause between two attempts is random, up to a limit: this makes it none.
  Math.random = () => 0
  const first = Number(values.seed)
  let [seed, mails, calls] = [first, 0, 0]
  for (; Date.now() < end; seed += 1) {
    print(`${ROUND} random requests with the seed ${seed}`)
    const { mail, workspace } = await fuzz(seed, ROUND)
    mails += mail.messages.length
    calls += workspace.calls.length
  }
  if (Math.min(mails / 10, calls / 40) <= seed - first)
    throw new Error('Hardly a request passed the validation.')
}

async function checkSizes(end: number): Promise<void> {
  const host = await startWatched()
  const stalls: Stall[] = []
  async function check(requests: Parameters<typeof host.measure>[0]) {
    const stall = await host.measure(requests)
    stalls.push(stall)
    print(`${isTooMuch(stall) ? 'TOO MUCH' : '      ok'}  ${show(stall)}`)
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await check([])
  print('^ The machine, without a request.')
  for (const request of namedRequests) await check([request])
  for (const crowd of hostileCrowds) await check(crowd)
  for (let seed = Number(values.seed); Date.now() < end; seed += 1) {
    print(`Large values at random places, with the seed ${seed}`)
    const requests = sampleRequests(seed, 10 * AT_A_TIME)
    while (requests.length > 0 && Date.now() < end) await check(requests.splice(0, AT_A_TIME))
    const crowd = hostileCrowds[seed % hostileCrowds.length]
    if (crowd && Date.now() < end) await check(crowd)
  }
  await host.close()
  const worst = stalls.filter(isTooMuch).sort((a, b) => b.stallMs - a.stallMs)
  const most = (figure: keyof typeof targets) =>
    Math.max(...stalls.map((stall) => stall[figure] || 0)).toFixed()
  print(
    `\n${stalls.length} measurements: stall ${most('stallMs')} ms, /healthz ${most('healthMs')} ms, memory ${most('memoryMb')} MB at most.`,
  )
  print(`${worst.length} are above ${JSON.stringify(targets)}${worst.length > 0 ? ', the worst:' : '.'}`)
  for (const stall of worst.slice(0, 20)) print(show(stall))
  if (worst.length > 0) process.exitCode = 1
}

async function checkSlow(): Promise<void> {
  const host = await startWatched()
  const faults = await outlastSlowClients(host.url(), print)
  await host.close()
  for (const fault of faults) print(`TOO MUCH  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}

if (kinds.includes('rules')) await checkRules(Date.now() + shareMs)
if (kinds.includes('sizes')) await checkSizes(Date.now() + shareMs)
if (kinds.includes('slow')) await checkSlow()
