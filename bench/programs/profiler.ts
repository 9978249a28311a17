/**
 * Preloaded into a process that is profiled: SIGUSR2 begins a profile, and the next one ends it and writes it to
 * `PROFILE_FILE`. So what is profiled is the work, and neither the start nor the warming up.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

const SAMPLE_MICROSECONDS = 200

let session: Session | undefined

async function toggle(): Promise<void> {
  if (session) {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(process.env.PROFILE_FILE ?? 'profile.cpuprofile', JSON.stringify(profile))
    session.disconnect()
    session = undefined
    return
  }
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS })
  await session.post('Profiler.start')
}

process.on('SIGUSR2', () => void toggle())
