/**
 * Deploys each bundle of the host, and takes every step of the sandbox's walk through it: `pnpm deployments`, or
 * `pnpm deployments lambda worker` for some. It needs redis-server.
 */
import { startRedis } from '../chaos/redis.ts'
import { kilobytes } from '../shared/format.ts'
import { toTable } from '../shared/markdown.ts'
import { bundles, type TargetName, weighBundle } from './bundles.ts'
import { inProduction, targets } from './targets.ts'
import { walkThrough } from './walk.ts'

const known = Object.keys(bundles).filter((name): name is TargetName => name in bundles)
const asked = process.argv.slice(2).filter((argument) => argument !== '--')
const unknown = asked.find((name) => !known.some((target) => target === name))
if (unknown) throw new Error(`There is no target “${unknown}”. The targets are ${known.join(', ')}.`)
const chosen = asked.length > 0 ? known.filter((name) => asked.includes(name)) : known

const rows = [['target', 'passed', 'failed', 'skipped', 'seconds', 'bundle', 'gzipped']]
const redis = await startRedis()
for (const [index, name] of chosen.entries()) {
  // Each walk has a database of its own, because the ids of its deliveries are the same.
  const store = name === 'node' ? 'sqlite:deliveries.db' : `${redis.url}/${index}`
  const { output, passed, failed, skipped, durationMs } = await walkThrough((variables) =>
    targets[name](inProduction(variables, store)),
  )
  if (failed > 0) {
    process.exitCode = 1
    console.log(output)
  }
  const { bytes, gzipped } = weighBundle(name)
  const counts = [passed, failed, skipped, (durationMs / 1_000).toFixed(1)].map(String)
  rows.push([name, ...counts, kilobytes(bytes), kilobytes(gzipped)])
}
console.log(toTable(rows))
await redis.close()
