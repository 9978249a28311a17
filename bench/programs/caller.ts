/**
 * A client as a process of its own: `caller <row> <contender> <url of the provider>`. Asked for so many calls,
 * it makes them, so many in flight, and tells what they cost.
 *
 * @module
 */
import type { Connect } from '../callers/caller.ts'
import { outboundCalls } from '../callers/outbound-call.ts'
import { singleSends } from '../callers/single-send.ts'

const rows: Readonly<Record<string, Readonly<Record<string, Connect>>>> = {
  'outbound-call': outboundCalls,
  'single-send': singleSends,
}

const [row = '', contender = '', url = ''] = process.argv.slice(2)
const connect = rows[row]?.[contender]
if (!connect) throw new Error(`There is no ${contender} in ${row}.`)
const call = await connect(url)

process.on('message', (order: { calls: number; inFlight: number }) => {
  measure(order).then(
    (cost) => process.send?.(cost),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.({ ready: true })

async function measure({
  calls,
  inFlight,
}: {
  calls: number
  inFlight: number
}): Promise<{ cpuMicroseconds: number }> {
  let begun = 0
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (begun++ < calls) await call()
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return { cpuMicroseconds: (user + system) / calls }
}
