/** Surroundings and processes that end with the file that starts them. */
import { afterAll } from 'vitest'
import { type StartOptions, startShipped, startSurroundings } from './shipped.ts'

/** Starts surroundings; `ship` starts a production host between them. */
export async function surround() {
  const around = await startSurroundings()
  const hosts: ReturnType<typeof startShipped>[] = []
  afterAll(async () => {
    for (const host of hosts) host.kill('SIGKILL')
    await Promise.all(hosts.map(({ exit }) => exit))
    await around.close()
  })
  return {
    ...around,
    ship({ environment, ...options }: StartOptions = {}) {
      const host = startShipped({ environment: { ...around.variables, ...environment }, ...options })
      hosts.push(host)
      return host
    },
  }
}
