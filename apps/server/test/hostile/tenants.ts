/** Tenants of a host: one with slow servers, and others, who must not notice it. */
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { calling, mail, mailDeployment } from '../hosted.ts'
import { portOf } from '../raw-server.ts'
import type { Watched } from './watch.ts'

/** Sends as a tenant with ten deployments, whose servers do not answer. */
export async function sendAsSlowTenant({ send }: Watched, signal: AbortSignal): Promise<void> {
  const silent = createServer(() => {})
  const port = await portOf(silent, '0.0.0.0')
  const call = async (at: number) => {
    const server = `http://127.0.0.${1 + (at % 5)}:${port}`
    const deployment = { ...mailDeployment(`slow_${at % 10}`, server), owner: 'slow' }
    while (!signal.aborted) {
      await send('mailer', { ...calling(at % 2 ? 'getDeliveryStats' : 'sendEmail', mail), deployment })
      // As the `Retry-After` of a refusal says.
      await pause(1_000)
    }
  }
  await Promise.all(Array.from({ length: 100 }, (_, at) => call(at)))
  silent.close()
}

/** Sends mails of some sizes, each for another owner, and finds out whether each is sent. */
export async function sendAsOthers({ send }: Watched, sizes: readonly number[], signal: AbortSignal) {
  let sent = 0
  const faults: string[] = []
  const call = async (size: number, at: number) => {
    const deployment = { id: `other_${at}`, owner: `other_${at}`, inputs: { serverType: 'shared' } }
    const event = { ...calling('sendEmail', { ...mail, textBody: 'x'.repeat(size) }), deployment }
    for (; !signal.aborted; sent += 1) {
      const lost = (error: unknown) => ({ status: 0, body: String(error) })
      const { status, body } = await send('mailer', event).catch(lost)
      if (status !== 200)
        faults.push(`A signed event of ${size} bytes got ${status}: ${JSON.stringify(body)}`)
      await pause(50)
    }
  }
  await Promise.all(sizes.map(call))
  return { sent, faults }
}
