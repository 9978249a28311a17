/**
 * Sends hostile requests: `node --conditions=@org/source apps/server/test/hostile/main.ts --minutes 10 --seed 7`.
 *
 * A third of the time, random requests go to a host in this process, and each response must keep the rules. It ends
 * with the smallest request that breaks one. Then the host that ships gets large requests, each alone, a few at a
 * time, and crowds of them. At last, 9,570 connections of strangers waste its time. Meanwhile other tenants send
 * events, none of which may be refused.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { calling, mail } from '../hosted.ts'
import { hostileSteps, prepare } from './requests.ts'
import { fuzz } from './rules.ts'
import { startWatched } from './watch.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: 'rules,sizes,strangers' },
  },
})
const parts = values.only.split(',')
const seed = Number(values.seed)
const partMs = (Number(values.minutes) * 60_000) / parts.length
/** Requests per host, because its emulators remember every call. */
const ROUND = 2_000
const faults = new Set<string>()

async function checkRules(): Promise<void> {
  // The pause between two attempts is random, up to a limit: this makes it none.
  Math.random = () => 0
  let [round, mails, calls] = [0, 0, 0]
  for (const end = Date.now() + partMs; Date.now() < end; round += 1) {
    const { mail, workspace } = await fuzz(seed + round, ROUND)
    mails += mail.messages.length
    calls += workspace.calls.length
  }
  console.log(`${round * ROUND} random requests with the seeds from ${seed} on`)
  if (Math.min(mails / 10, calls / 40) <= round) throw new Error('Hardly a request passed the validation.')
}

/** Sends mails of some sizes until the time is over, each for another owner. */
async function sendAsOthers(sizes: readonly number[], signal: AbortSignal): Promise<void> {
  let sent = 0
  const call = async (size: number, at: number) => {
    const deployment = { id: `other_${at}`, owner: `other_${at}`, inputs: { serverType: 'shared' } }
    const event = { ...calling('sendEmail', { ...mail, textBody: 'x'.repeat(size) }), deployment }
    for (; !signal.aborted; sent += 1) {
      const answer = await host.send('mailer', event).catch((error) => ({ status: 0, body: String(error) }))
      const { status, body } = answer
      if (status !== 200) faults.add(`A signed event of ${size} bytes got ${status}: ${JSON.stringify(body)}`)
      await pause(50)
    }
  }
  await Promise.all(sizes.map(call))
  console.log(`${sent} signed events of others`)
}

async function sendLargeRequests(signal: AbortSignal): Promise<void> {
  for (const step of hostileSteps(seed)) {
    if (signal.aborted) break
    const excess = await host.watch(await prepare(host.url, step))
    const names = [...new Set(step.map(({ name }) => name))].join(' | ')
    if (excess.length > 0) faults.add(`${names}: ${excess.join(', ')}`)
  }
}

if (parts.includes('rules')) await checkRules()
const host = await startWatched()
if (parts.includes('sizes')) {
  const signal = AbortSignal.timeout(partMs)
  // Large events of the others would get 503 beside so many large ones.
  await Promise.all([sendAsOthers([100, 10_000], signal), sendLargeRequests(signal)])
}
if (parts.includes('strangers')) {
  const strangers = fork(new URL('strangers.ts', import.meta.url), [new URL(host.url).port])
  const sizes = [100, 100, 10_000, 60_000, 100_000, 1_000_000, 3_900_000]
  const excess = await host.watch(() => sendAsOthers(sizes, AbortSignal.timeout(partMs)))
  if (excess.length > 0) faults.add(`strangers: ${excess.join(', ')}`)
  strangers.kill()
}
console.log(host.most().join(', '))
await host.close()
for (const fault of faults) console.log(`TOO MUCH  ${fault}`)
if (faults.size > 0) process.exitCode = 1
