import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

export function describeMachine(): string {
  const load = loadavg().map((value) => value.toFixed(2))
  const gigabytes = Math.round(totalmem() / 1e9)
  return `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, ${gigabytes} GB, ${process.platform}, Node ${process.versions.node}, load average at the start ${load.join(', ')}`
}

/** Whether a process can be pinned to a core: the machine has `taskset` and more than one core. */
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** Makes a command run on one core, if this machine can do so. */
export function pinned(
  core: number | undefined,
  command: string,
  parameters: readonly string[],
): [string, string[]] {
  return canPin && core !== undefined
    ? ['taskset', ['-c', String(core), command, ...parameters]]
    : [command, [...parameters]]
}
