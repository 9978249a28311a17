/**
 * Deploys the bundles of the host, each in its own way, and sends the whole walk of the sandbox through each:
 * `pnpm deployments`, or `pnpm deployments lambda worker` for some. It needs redis-server.
 *
 * @module
 */
import { startRedis } from '../chaos/redis.ts'
import { bundles, type TargetName, weighBundle } from './bundles.ts'
import { inProduction, targets } from './targets.ts'
import { walkThrough } from './walk.ts'

const known = Object.keys(bundles).filter((name): name is TargetName => name in bundles)
const asked = process.argv.slice(2).filter((argument) => argument !== '--')
const unknown = asked.find((name) => !known.some((target) => target === name))
if (unknown) throw new Error(`There is no “${unknown}” here, only ${known.join(', ')}.`)
const chosen = asked.length > 0 ? known.filter((name) => asked.includes(name)) : known

const redis = await startRedis()
try {
  for (const [index, name] of chosen.entries()) {
    // A database for each: the deliveries of all walks have the same ids.
    const store = name === 'node' ? 'sqlite:deliveries.db' : `${redis.url}/${index}`
    const { output, passed, failed, skipped, durationMs } = await walkThrough((variables) =>
      targets[name](inProduction(variables, store)),
    )
    if (failed > 0) {
      process.exitCode = 1
      console.log(output)
    }
    const { bytes, gzipped } = weighBundle(name)
    const kilobytes = (size: number) => `${Math.round(size / 1000)} kB`
    console.log(
      `${name.padEnd(7)} ${passed} steps passed, ${failed} failed, ${skipped} skipped in ${(durationMs / 1000).toFixed(1)} s · ${bundles[name]} ${kilobytes(bytes)}, ${kilobytes(gzipped)} gzipped`,
    )
  }
} finally {
  await redis.close()
}
