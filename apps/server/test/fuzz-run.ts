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
import { outlastSlowClients, startWatched, targets } from './stalls.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'rules,sizes,slow' },
  },
})
const kinds = values.only.split(',')
const first = Number(values.seed)
const shareMs = (Number(values.minutes) * 60_000) / kinds.filter((kind) => kind !== 'slow').length
/** Requests per host, because its emulators remember every call. */
const ROUND = 2_000
/** Large requests at a time, once each was sent alone. */
const AT_A_TIME = 3

async function checkRules(end: number): Promise<void> {
  // The pause between two attempts is random, up to a limit: this makes it none.
  Math.random = () => 0
  let [seed, mails, calls] = [first, 0, 0]
  for (; Date.now() < end; seed += 1) {
    console.log(`${ROUND} random requests with the seed ${seed}`)
    const { mail, workspace } = await fuzz(seed, ROUND)
    mails += mail.messages.length
    calls += workspace.calls.length
  }
  if (Math.min(mails / 10, calls / 40) <= seed - first)
    throw new Error('Hardly a request passed the validation.')
}

async function checkSizes(end: number): Promise<void> {
  const host = await startWatched()
  const worst: string[] = []
  async function check(requests: Parameters<typeof host.measure>[0]) {
    const { isTooMuch, line } = await host.measure(requests)
    console.log(`${isTooMuch ? 'TOO MUCH' : '      ok'}  ${line}`)
    if (isTooMuch) worst.push(line)
  }
  for (const request of namedRequests) await check([request])
  for (const crowd of hostileCrowds) await check(crowd)
  for (let seed = first; Date.now() < end; seed += 1) {
    console.log(`Large values at random places, with the seed ${seed}`)
    const requests = sampleRequests(seed, 10 * AT_A_TIME)
    while (requests.length > 0 && Date.now() < end) await check(requests.splice(0, AT_A_TIME))
  }
  await host.close()
  console.log(`\n${worst.length} are above ${JSON.stringify(targets)}:`, ...worst.map((line) => `\n${line}`))
  if (worst.length > 0) process.exitCode = 1
}

if (kinds.includes('rules')) await checkRules(Date.now() + shareMs)
if (kinds.includes('sizes')) await checkSizes(Date.now() + shareMs)
if (kinds.includes('slow')) {
  const faults = await outlastSlowClients()
  for (const fault of faults) console.log(`TOO MUCH  ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
