/**
 * Sends hostile requests: `node --conditions=@org/source apps/server/test/hostile/main.ts --minutes 10 --seed 7`.
 *
 * A third of the time, random requests go to a host in this process, and each response must keep the rules. It ends
 * with the smallest request that breaks one. Then the host that ships gets large requests, each alone, a few at a
 * time, and crowds of them. At last, 9,570 connections of strangers waste its time, and so does a tenant with slow servers.
 * Meanwhile another process measures that host, and other tenants send events, none of which may be refused.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { hostileSteps, prepare } from './requests.ts'
import { fuzz } from './rules.ts'
import { sendAsOthers, sendAsSlowTenant } from './tenants.ts'
import { startWatched } from './watch.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'rules,sizes,strangers' },
  },
})
const kinds = values.only.split(',')
const seed = Number(values.seed)
const shareMs = (Number(values.minutes) * 60_000) / kinds.length
/** Requests per host, because its emulators remember every call. */
const ROUND = 2_000

async function checkRules(): Promise<void> {
  // The pause between two attempts is random, up to a limit: this makes it none.
  Math.random = () => 0
  let [round, mails, calls] = [0, 0, 0]
  for (const end = Date.now() + shareMs; Date.now() < end; round += 1) {
    const { mail, workspace } = await fuzz(seed + round, ROUND)
    mails += mail.messages.length
    calls += workspace.calls.length
  }
  console.log(`${round * ROUND} random requests with the seeds from ${seed} on`)
  if (Math.min(mails / 10, calls / 40) <= round) throw new Error('Hardly a request passed the validation.')
}

/** Runs work beside senders of signed events of some sizes, until the time is over. */
async function besideOthers(sizes: readonly number[], work: (signal: AbortSignal) => Promise<unknown>) {
  const signal = AbortSignal.timeout(shareMs)
  const [others] = await Promise.all([sendAsOthers(host, sizes, signal), work(signal)])
  console.log(`${others.sent} signed events of others, refused or lost: ${others.faults.length}`)
  faults.push(...new Set(others.faults))
}

async function sendLargeRequests(signal: AbortSignal): Promise<void> {
  for (const step of hostileSteps(seed)) {
    if (signal.aborted) break
    const excess = await host.watch(await prepare(host.url, step))
    const names = [...new Set(step.map(({ name }) => name))].join(' | ')
    if (excess.length > 0) faults.push(`${names} — ${excess.join(', ')}`)
  }
}

const faults: string[] = []
if (kinds.includes('rules')) await checkRules()
const host = await startWatched()
// Large events of the others would get 503 beside so many large ones.
if (kinds.includes('sizes')) await besideOthers([100, 10_000], sendLargeRequests)
if (kinds.includes('strangers')) {
  const strangers = fork(new URL('strangers.ts', import.meta.url), [new URL(host.url).port])
  const sizes = [100, 100, 10_000, 60_000, 100_000, 1_000_000, 3_900_000]
  await besideOthers(sizes, (signal) => sendAsSlowTenant(host, signal))
  strangers.kill()
}
host.print()
faults.push(...host.findExcess())
await host.close()
for (const fault of faults) console.log(`TOO MUCH  ${fault}`)
if (faults.length > 0) process.exitCode = 1
