/**
 * How a Node process is, by the names that dashboards for Node know.
 *
 * @module
 */
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Reading } from './prometheus.ts'

/** How often it is looked whether the event loop is late, in milliseconds. */
const LAG_RESOLUTION_MS = 20

/** What can be read of this process. From now on it is measured how late its event loop is. */
export function readProcess(): Reading[] {
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  delay.enable()
  let since = performance.eventLoopUtilization()
  const gauge = (name: string, help: string, read: () => number): Reading => ({
    name,
    help,
    type: 'gauge',
    read,
  })

  return [
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time that was spent, in seconds.',
      type: 'counter',
      read() {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    },
    gauge('process_start_time_seconds', 'When the process began, in seconds since 1970.', () =>
      Math.round(performance.timeOrigin / 1000),
    ),
    gauge('process_resident_memory_bytes', 'Memory that is in use.', () => process.memoryUsage.rss()),
    gauge(
      'process_open_fds',
      'Files and connections that are open; 0 where that can’t be told.',
      countOpenFiles,
    ),
    gauge(
      'nodejs_heap_size_used_bytes',
      'Memory that JavaScript uses.',
      () => process.memoryUsage().heapUsed,
    ),
    gauge(
      'nodejs_heap_size_total_bytes',
      'Memory that JavaScript has.',
      () => process.memoryUsage().heapTotal,
    ),
    gauge(
      'nodejs_eventloop_utilization',
      'The part of the time since the last look that the loop was busy.',
      () => {
        const now = performance.eventLoopUtilization()
        const { utilization } = performance.eventLoopUtilization(now, since)
        since = now
        return utilization
      },
    ),
    gauge('nodejs_eventloop_lag_p50_seconds', 'How late the event loop was, at the median.', () => lag(50)),
    gauge('nodejs_eventloop_lag_p99_seconds', 'How late the event loop was, at the 99th percentile.', () => {
      const found = lag(99)
      delay.reset()
      return found
    }),
    {
      name: 'nodejs_version_info',
      help: 'The version of Node.',
      type: 'gauge',
      read: () => [[{ version: process.version }, 1]],
    },
  ]

  /** How late the loop was since the last look; what is measured holds the pause between two looks, too. */
  function lag(percentile: number): number {
    return Math.max(0, delay.percentile(percentile) / 1e6 - LAG_RESOLUTION_MS) / 1000
  }
}

function countOpenFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
