/**
 * Where the time of a CPU profile went: by package, and by function.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface CallFrame {
  functionName: string
  url: string
  lineNumber: number
  columnNumber: number
}

interface ProfileNode {
  id: number
  callFrame: CallFrame
  children?: number[]
}

interface CpuProfile {
  nodes: ProfileNode[]
  samples: number[]
  /** Microseconds since the sample before. */
  timeDeltas: number[]
}

/** Time that was spent in a place itself, not in what it called. */
interface Spent {
  name: string
  microseconds: number
}

/** A profile, added up. */
export interface ProfileSummary {
  /** Without waiting. */
  busyMicroseconds: number
  packages: Spent[]
  functions: Spent[]
  /** With what they called; what runs after an `await` was called by nobody. */
  functionsWithCalls: Spent[]
}

const IDLE = '(idle)'
/** The profiler's own work. */
const PROFILER = 'node:inspector'

/** Reads a `.cpuprofile`. */
export function summarizeProfile(file: string): ProfileSummary {
  const profile: CpuProfile = JSON.parse(readFileSync(file, 'utf8'))
  const own = new Map<number, number>()
  for (const [at, id] of profile.samples.entries())
    own.set(id, (own.get(id) ?? 0) + Math.max(0, profile.timeDeltas[at] ?? 0))
  const nodes = new Map(profile.nodes.map((node) => [node.id, { ...node, place: placeOf(node.callFrame) }]))
  const packages = new Map<string, number>()
  const functions = new Map<string, number>()
  const functionsWithCalls = new Map<string, number>()

  /** Adds a node and what is below it, and returns their time. */
  function visit(id: number, above: ReadonlySet<string>): number {
    const node = nodes.get(id)
    if (!node || node.place.name === IDLE || node.callFrame.url === PROFILER) return 0
    const name = `${node.place.package}: ${node.place.name}`
    const microseconds = own.get(id) ?? 0
    add(packages, node.place.package, microseconds)
    add(functions, name, microseconds)
    const path = new Set(above).add(name)
    const whole = (node.children ?? []).reduce((sum, child) => sum + visit(child, path), microseconds)
    // Of one that calls itself, only the outermost counts.
    if (!above.has(name)) add(functionsWithCalls, name, whole)
    return whole
  }
  const root = profile.nodes[0]
  const busyMicroseconds = root ? visit(root.id, new Set()) : 0
  return {
    busyMicroseconds,
    packages: sorted(packages),
    functions: sorted(functions),
    functionsWithCalls: sorted(functionsWithCalls),
  }
}

function add(sums: Map<string, number>, name: string, microseconds: number): void {
  sums.set(name, (sums.get(name) ?? 0) + microseconds)
}

function sorted(sums: Map<string, number>): Spent[] {
  return [...sums]
    .map(([name, microseconds]) => ({ name, microseconds }))
    .sort((one, other) => other.microseconds - one.microseconds)
}

function placeOf({ functionName, url, lineNumber, columnNumber }: CallFrame): {
  package: string
  name: string
} {
  if (url === '') return { package: functionName.startsWith('(') ? functionName : 'V8', name: functionName }
  const source = originOf(url, lineNumber, columnNumber)
  return {
    package: packageOf(source.file),
    name: `${functionName || '(anonymous)'} ${basename(source.file)}:${source.line}`,
  }
}

function packageOf(file: string): string {
  if (file.includes('deps/undici')) return 'undici (in Node)'
  if (file.startsWith('node:')) return 'Node'
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
  if (installed) return installed
  const [, own] = /(packages\/[^/]+|apps\/[^/]+|bench)\//.exec(file) ?? []
  return own ?? basename(file)
}

const maps = new Map<string, SourceMap | undefined>()

/** Where something stood before it was bundled, if the bundle says. */
function originOf(url: string, lineNumber: number, columnNumber: number): { file: string; line: number } {
  const own = { file: url, line: lineNumber + 1 }
  if (!url.startsWith('file:')) return own
  const file = fileURLToPath(url)
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`))
  const entry = maps.get(file)?.findEntry(lineNumber, columnNumber)
  if (!entry || !('originalSource' in entry)) return own
  return { file: join(dirname(file), entry.originalSource), line: entry.originalLine + 1 }
}

function readMap(file: string): SourceMap | undefined {
  if (!existsSync(file)) return undefined
  const payload: SourceMapPayload = JSON.parse(readFileSync(file, 'utf8'))
  return new SourceMap(payload)
}
