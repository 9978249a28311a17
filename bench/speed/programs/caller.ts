/** One client that makes calls, and reports their cost: `caller <contender> <url of the provider>`. */

import { serveOrders } from '../../shared/serve-orders.ts'
import { quantile } from '../../shared/statistics.ts'
import { singleSends } from './single-send.ts'

const [contender = '', url = ''] = process.argv.slice(2)
const connect = singleSends[contender]
if (!connect) throw new Error(`There is no contender ${contender}.`)
const call = await connect(url)

serveOrders(async ({ calls, inFlight }: { calls: number; inFlight: number }) => {
  let begun = 0
  const durations: number[] = []
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (begun++ < calls) {
        const started = performance.now()
        await call()
        durations.push(performance.now() - started)
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(durations, share))
  return { cpuMicroseconds: (user + system) / calls, p50, p99 }
})
