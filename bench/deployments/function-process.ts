/**
 * A function as a process of its own, which is halted whenever it has answered, as platforms halt functions: what
 * it does after its answer is not done.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Served, serve } from '@org/core/testing'
import { putAlone } from './bundles.ts'
import { toGatewayEvent, toResponse } from './lambda-gateway.ts'
import type { Target, Variables } from './target.ts'

/** One call of a function, as it reaches the process. */
export interface Call {
  id: number
  payload: unknown
}

/** What became of it. */
export type Outcome = { id: number } & ({ answer: unknown } | { failure: string })

/** A request or a response in plain data; the body as base64. */
export interface HttpParts {
  status: number
  headers: [name: string, value: string][]
  body: string
}

/** A function that can be called. */
export interface FunctionProcess {
  log: readonly string[]
  call(payload: unknown): Promise<unknown>
  close(): void
}

/** Runs the bundle for Lambda behind what makes events of requests. */
export async function startLambda(variables: Variables): Promise<Target> {
  const running = await startFunction('lambda', variables)
  return serveFunction(running, async (request) =>
    toResponse(Object(await running.call(await toGatewayEvent(request)))),
  )
}

/** Runs the bundle for Vercel. */
export async function startVercel(variables: Variables): Promise<Target> {
  const running = await startFunction('vercel', variables)
  return serveFunction(running, async (request) => {
    const body = Buffer.from(await request.arrayBuffer()).toString('base64')
    const { url, method } = request
    const payload = { url, method, headers: [...request.headers], ...(body !== '' && { body }) }
    const answer: HttpParts = Object(await running.call(payload))
    return new Response(Buffer.from(answer.body, 'base64'), answer)
  })
}

async function serveFunction(
  running: FunctionProcess,
  handle: (request: Request) => Promise<Response>,
): Promise<Target> {
  const server: Served = await serve(handle)
  return {
    url: server.url,
    log: running.log,
    async close() {
      await server.close()
      running.close()
    },
  }
}

/** Runs a bundle as a process, which has nothing but these variables, and halts it until it is called. */
export async function startFunction(
  kind: 'lambda' | 'vercel',
  variables: Variables,
): Promise<FunctionProcess> {
  const { folder, file, remove } = putAlone(kind)
  const program = new URL('function-program.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, kind, file], {
    cwd: folder,
    env: variables,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const log: string[] = []
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface({ input: output }).on('line', (line) => log.push(line))
  }
  const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  let calls = 0

  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', () => reject(new Error(`The function did not start: ${log.join('\n')}`)))
  })
  child.on('message', (outcome: Outcome) => {
    const caller = waiting.get(outcome.id)
    waiting.delete(outcome.id)
    if (waiting.size === 0) child.kill('SIGSTOP')
    if ('failure' in outcome) caller?.reject(new Error(outcome.failure))
    else caller?.resolve(outcome.answer)
  })
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The function ended in the middle.'))
  })
  child.kill('SIGSTOP')

  return {
    log,
    call: (payload) =>
      new Promise((resolve, reject) => {
        calls += 1
        waiting.set(calls, { resolve, reject })
        child.kill('SIGCONT')
        child.send({ id: calls, payload } satisfies Call)
      }),
    close() {
      child.kill('SIGKILL')
      remove()
    },
  }
}
