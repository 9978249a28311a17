/** The import rules of docs/architecture.md. */
import { findCircles, type Import, reachableFrom } from './import-graph.ts'

/** The imports from outside its own package that a file may have. The first rule that matches a file holds. */
const allowed: readonly { files: RegExp; to: RegExp }[] = [
  // A table of contents.
  { files: /^packages\/[\w-]+\/src\/index\.ts$/, to: /^packages\/core\// },
  { files: /^packages\/core\/src\/testing\/serve\.ts$/, to: /^node:/ },
  { files: /^packages\/core\/src\/(delivery\/)?stores\//, to: /^(node:|zod$)/ },
  { files: /^packages\/core\//, to: /^zod$/ },
  { files: /^packages\/platform-client\//, to: /^(zod|ky|packages\/core\/.*)$/ },
  {
    files: /^packages\/[\w-]+\/src\/testing\//,
    to: /^(zod|packages\/(core|idp)\/src\/testing\/index\.ts)$/,
  },
  { files: /^packages\/idp-server\//, to: /^(zod|packages\/(core|idp)\/.*)$/ },
  { files: /^packages\//, to: /^(zod|packages\/core\/.*)$/ },
  {
    files: /^apps\/sandbox\//,
    to: /^(node:.*|hono|@hono\/node-server|apps\/server\/src\/host\.ts|packages\/core\/.*|packages\/[\w-]+\/src\/testing\/index\.ts)$/,
  },
  // Its check of the default sender, without the webhook: a host loads integrations after its start.
  { files: /^apps\/server\/src\/variables\.ts$/, to: /^(node:net|zod|packages\/mailer\/src\/index\.ts)$/ },
  {
    files: /^apps\/server\//,
    to: /^(?!ky$)(node:.*|[^/]+|@[^/]+\/[^/]+|packages\/(core|platform-client)\/.*|packages\/[\w-]+\/src\/webhook\.ts)$/,
  },
]

/** The files that a file must not load, directly or through other files. */
const unreachable: readonly { files: RegExp; to: RegExp; because: string }[] = [
  {
    files: /^packages\/mailer\/src\/index\.ts$/,
    to: /^zod$|\/src\/(integration|deployment|functions|connection)\.ts$/,
    because: 'an SDK must load without the webhook and without zod',
  },
  {
    files: /^packages\/(?!core\/)[\w-]+\/src\/index\.ts$/,
    to: /^packages\/(?!core\/)[\w-]+\/src\/webhook\.ts$/,
    because: 'an SDK must load without the webhook',
  },
  {
    files: /^packages\/[\w-]+\/src\/wire\.ts$/,
    to: /\/src\/client\.ts$/,
    because: 'the wire format does not know its client',
  },
  {
    files: /^packages\/[\w-]+\/src\/(?!testing\/)/,
    to: /\/src\/testing\//,
    because: 'emulators are for tests',
  },
  {
    files: /^apps\/server\/src\/(.*\/)?worker\.ts$/,
    to: /^(@hono\/node-server|undici)$/,
    because: 'it runs on Node alone',
  },
]

const core = 'packages/core/src/'
/** The folders of core after its root files. Each may import those before it, and `http` only the first two. */
const layers = ['root files', 'contract', 'request', 'delivery', 'http', 'pipeline', 'openapi']
const rootFiles = [
  'errors.ts',
  'titles.ts',
  'problem-schema.ts',
  'problem.ts',
  'log.ts',
  'mask.ts',
  'redact.ts',
  'search.ts',
  'bytes.ts',
  'cryptography.ts',
  'json-limits.ts',
  'hashing.ts',
  'json-pieces.ts',
  'shares.ts',
  'slices.ts',
  'spellings.ts',
]

/** Every import that breaks a rule, as a sentence. */
export function findViolations(imports: readonly Import[]): string[] {
  const rules = [findForbidden, findUnreachable, findLayerFaults, findCircularImports]
  return [...new Set(rules.flatMap((find) => find(imports)))]
}

function findForbidden(imports: readonly Import[]): string[] {
  return imports
    .filter(({ from, to }) => packageOf(from) !== packageOf(to))
    .filter(({ from, to }) => !allowed.find(({ files }) => files.test(from))?.to.test(to))
    .map(({ from, specifier }) => `${from} must not import “${specifier}”`)
}

function findUnreachable(imports: readonly Import[]): string[] {
  return [...new Set(imports.map(({ from }) => from))].flatMap((file) =>
    unreachable
      .filter(({ files }) => files.test(file))
      .flatMap(({ to, because }) =>
        [...reachableFrom(file, imports)]
          .filter(([loaded]) => to.test(loaded))
          .map(([loaded, way]) => `${file} must not load ${loaded} (${because}): ${way.join(' → ')}`),
      ),
  )
}

/** Holds core's files to the order of its folders. */
function findLayerFaults(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, to, specifier }) => {
    if (!from.startsWith(core) || isOutside(from)) return []
    const [layer, target] = [layerOf(from), layerOf(to)]
    if (layer === -1) return [`${from} is in no folder that boundaries.ts lists`]
    if (!to.startsWith(core)) return []
    const isAllowed = target === layer || (target !== -1 && target < (layers[layer] === 'http' ? 2 : layer))
    return isAllowed ? [] : [`${from} must not import “${specifier}”: the order is ${layers.join(', ')}`]
  })
}

/** Core's entries and its testing folder may import everything. */
function isOutside(file: string): boolean {
  const path = file.slice(core.length)
  return ['index.ts', 'internal.ts', 'host.ts'].includes(path) || path.startsWith('testing/')
}

function layerOf(file: string): number {
  const path = file.slice(core.length)
  return rootFiles.includes(path) ? 0 : layers.indexOf(path.split('/')[0] ?? '')
}

function findCircularImports(imports: readonly Import[]): string[] {
  const files = imports.filter(({ to }) => packageOf(to) !== to)
  const folders = files
    .map(({ from, to }) => ({ from: folderOf(from), to: folderOf(to) }))
    .filter(({ from, to }) => from !== to && ![from, to].some((folder) => folder.endsWith('.ts')))
  const circles = [...findCircles(files), ...findCircles(folders)]
  return circles.map((circle) => `these load each other: ${circle.join(' → ')}`)
}

/** The folder below `src` that a file is in, or the file itself if it is in none. */
const folderOf = (path: string) => path.split('/').slice(0, 4).join('/')

function packageOf(path: string): string {
  const [folder, name] = path.split('/')
  return folder === 'packages' || folder === 'apps' ? `${folder}/${name}` : path
}
