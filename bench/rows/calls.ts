/**
 * What one call costs the process that makes it.
 *
 * @module
 */
import { interleave } from '../harness/interleave.ts'
import { startServer, startWorker } from '../harness/processes.ts'
import type { RowContext, Samples } from '../harness/row.ts'

/** Calls at a time. */
export const IN_FLIGHT = 50
const ROUNDS = 15
const CALLS = 1_500
const WARM_CALLS = 6_000

/**
 * Has each contender make calls in turns, each in a process of its own, with the provider in a further one.
 *
 * @param row the name of its callers
 * @returns the processor time of one call, in microseconds
 */
export async function measureCalls(row: string, context: RowContext): Promise<Samples> {
  const { arrangement, contenders, quick, progress, random } = context
  const [caller, providerProgram] = await Promise.all([
    arrangement.program('programs/caller.ts'),
    arrangement.program('programs/provider.ts'),
  ])
  const provider = await startServer(providerProgram, '/server')
  const workers = new Map(
    await Promise.all(
      contenders.map(
        async ({ id }) => [id, await startWorker(caller, { parameters: [row, id, provider.url] })] as const,
      ),
    ),
  )
  const calls = (id: string, count: number) =>
    workers.get(id)?.ask<{ cpuMicroseconds: number }>({ calls: count, inFlight: IN_FLIGHT }) ??
    Promise.reject(new Error(`${id} is not there.`))
  for (const { id } of contenders) {
    progress(`warming ${id}`)
    await calls(id, quick ? 500 : WARM_CALLS)
  }
  const valuesOf = await interleave({
    ids: [...workers.keys()],
    rounds: quick ? 3 : ROUNDS,
    random,
    progress,
    measure: (id) => calls(id, quick ? 300 : CALLS),
  })
  for (const worker of workers.values()) await worker.end()
  await provider.stop()
  return valuesOf('cpuMicroseconds')
}
