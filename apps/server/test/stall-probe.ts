/**
 * Asks a host for /healthz every 20 ms, one request at a time. For each line on standard input it prints two figures
 * of the time since the line before: the longest time that a response took, in milliseconds, and the most memory that
 * was resident, in MB (NaN where the system does not tell).
 *
 * A process of its own: the one that sends hostile requests is busy with them.
 */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { createInterface } from 'node:readline'

const PERIOD_MS = 20
const [url = '', pid = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
let longest = 0
let memory = Number.NaN
let begun: number | undefined

function ask(): void {
  const at = performance.now()
  begun = at
  const finish = () => {
    longest = Math.max(longest, performance.now() - at)
    begun = undefined
  }
  get(url, { agent }, (response) => response.resume().on('end', finish)).on('error', finish)
}

function readMemory(): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

setInterval(() => {
  // Math.max would keep a NaN.
  const resident = readMemory()
  if (!(resident < memory)) memory = resident
  if (begun === undefined) ask()
}, PERIOD_MS)

createInterface({ input: process.stdin })
  .on('line', () => {
    const waited = begun === undefined ? 0 : performance.now() - begun
    process.stdout.write(`${Math.max(longest, waited)} ${memory}\n`)
    longest = 0
    memory = Number.NaN
  })
  .on('close', () => process.exit())
