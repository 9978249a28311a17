/** The surroundings and the bundle for all tests of a file. They end after the last one. */
import { afterAll } from 'vitest'
import { startSurroundings } from './deployed.ts'
import { type StartOptions, startShipped } from './shipped.ts'

export async function surround() {
  const around = await startSurroundings()
  afterAll(() => around.close())
  return around
}

export function ship(options: StartOptions) {
  const host = startShipped(options)
  afterAll(async () => {
    host.kill('SIGKILL')
    await host.exit
  })
  return host
}
