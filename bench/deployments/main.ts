/**
 * Deploys each bundle of the host, and takes every step of the sandbox's walk through it: `pnpm deployments`, or
 * `pnpm deployments lambda worker` for some. It needs redis-server.
 */
import { gzipSync } from 'node:zlib'
import { startRedis } from '../chaos/redis.ts'
import { kilobytes } from '../shared/format.ts'
import { toTable } from '../shared/markdown.ts'
import { readBundle, type TargetName } from './bundles.ts'
import { inProduction, targets } from './targets.ts'
import { walkThrough } from './walk.ts'

const known = Object.keys(targets).filter((name): name is TargetName => name in targets)
const asked = process.argv.slice(2).filter((argument) => argument !== '--')
const unknown = asked.find((name) => !(name in targets))
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
  const bundle = readBundle(name)
  const sizes = [bundle.byteLength, gzipSync(bundle, { level: 9 }).byteLength].map(kilobytes)
  rows.push([name, ...[passed, failed, skipped, (durationMs / 1_000).toFixed(1)].map(String), ...sizes])
}
console.log(toTable(rows))
await redis.close()
