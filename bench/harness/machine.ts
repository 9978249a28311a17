import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** What a run was measured on, in one line. */
export function describeMachine(): string {
  const [processor] = cpus()
  const load = loadavg()
    .map((value) => value.toFixed(2))
    .join(', ')
  const gigabytes = Math.round(totalmem() / 1e9)
  return `${availableParallelism()} cores, ${processor?.model.trim()}, ${gigabytes} GB, ${process.platform}, Node ${process.versions.node}, load average at the start ${load}`
}

/** Whether processes can be held to one core each: `taskset`, and a core for either side. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** A command that is held to one core where that is possible, and the command itself elsewhere. */
export function pinned(
  core: number | undefined,
  command: string,
  parameters: readonly string[],
): [string, string[]] {
  return canPin && core !== undefined
    ? ['taskset', ['-c', String(core), command, ...parameters]]
    : [command, [...parameters]]
}
