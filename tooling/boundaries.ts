/**
 * The arrows of the architecture: who may import what. See docs/architecture.md.
 *
 * @module
 */
import { type Import, reachableFrom } from './import-graph.ts'

interface Rule {
  /** Which files it is about. */
  files: RegExp
  /** What they may import, beside the files of their own package. */
  may: RegExp
}

/** For each package, what it may import from outside itself. A file is held to the first rule that fits it. */
const rules: readonly Rule[] = [
  { files: /^packages\/core\/src\/testing\/serve\.ts$/, may: /^node:/ },
  { files: /^packages\/core\/src\/stores\/sqlite\.ts$/, may: /^(node:|zod$)/ },
  { files: /^packages\/core\//, may: /^zod$/ },
  { files: /^packages\/platform-client\//, may: /^(zod|ky|packages\/core\/)/ },
  {
    files: /^packages\/[\w-]+\/src\/testing\//,
    may: /^(zod|packages\/core\/src\/testing\/index\.ts|packages\/idp\/src\/testing\/index\.ts)$/,
  },
  { files: /^packages\/idp-server\//, may: /^(zod|packages\/(core|idp)\/)/ },
  { files: /^packages\//, may: /^(zod|packages\/core\/)/ },
  // What only Node has: loaded by its entry alone, so that the other runtimes' entries stay free of it.
  { files: /^apps\/server\/src\/run\.ts$/, may: /^(@hono\/node-server|packages\/core\/)/ },
  { files: /^apps\/server\/src\/(dispatch|outbound)\.ts$/, may: /^(undici|packages\/core\/)/ },
  {
    files: /^apps\/server\/src\/egress(-rule)?\.ts$/,
    may: /^(node:(net|dns)|ipaddr\.js|undici|packages\/core\/)/,
  },
  { files: /^apps\/server\/src\/process-metrics\.ts$/, may: /^node:(fs|perf_hooks)$/ },
  { files: /^apps\/server\/src\/tracing\.ts$/, may: /^(@opentelemetry\/api|packages\/core\/)/ },
  { files: /^apps\/server\/src\/hmac\.ts$/, may: /^(node:crypto|packages\/core\/)/ },
  { files: /^apps\/server\/src\/(function-)?store\.ts$/, may: /^(@redis\/client|packages\/core\/)/ },
  {
    files: /^apps\/server\//,
    may: /^(zod|hono|pino|cockatiel|packages\/(core|platform-client)\/|packages\/[\w-]+\/src\/webhook\.ts)/,
  },
  {
    files: /^apps\/sandbox\//,
    may: /^(node:|hono|@hono\/node-server|apps\/server\/src\/host\.ts|packages\/[\w-]+\/src\/testing\/index\.ts|packages\/core\/)/,
  },
]

/** Entries that a consumer loads without wanting webhooks: what must never be behind them. */
const lightEntry = /^packages\/mailer\/src\/index\.ts$/
const heavy = /^zod$|\/src\/(webhook|integration|deployment|functions|connection)\.ts$|\/testing\//

/** Every import that breaks a rule, as a sentence. */
export function findViolations(imports: readonly Import[]): string[] {
  return [...findForbidden(imports), ...findHeavy(imports), ...findTestingInSource(imports)]
}

function findForbidden(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, specifier }) => {
    if (packageOf(from) === packageOf(to)) return []
    const rule = rules.find(({ files }) => files.test(from))
    return rule?.may.test(to) ? [] : [`${from} must not import “${specifier}”`]
  })
}

function findHeavy(imports: readonly Import[]): string[] {
  const entries = new Set(imports.map(({ from }) => from).filter((file) => lightEntry.test(file)))
  return [...entries].flatMap((entry) =>
    [...reachableFrom(entry, imports)]
      .filter(([file]) => heavy.test(file))
      .map(([, way]) => `${entry} must not load ${way.at(-1)}: ${way.join(' → ')}`),
  )
}

function findTestingInSource(imports: readonly Import[]): string[] {
  return imports
    .filter(
      ({ from, to }) =>
        /\/src\/testing\//.test(to) && /^packages\//.test(from) && !/\/src\/testing\//.test(from),
    )
    .map(({ from, specifier }) => `${from} must not import “${specifier}”: emulators are for tests`)
}

function packageOf(path: string): string {
  const [folder, name] = path.split('/')
  return folder === 'packages' || folder === 'apps' ? `${folder}/${name}` : path
}
