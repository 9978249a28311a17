/**
 * A function in a process of its own, which is halted after each response, as platforms halt functions: work that
 * goes on after the response is lost.
 */
import { once } from 'node:events'
import { serve } from '@org/core/testing'
import { launchNode } from '../shared/processes.ts'
import { putAlone } from './bundles.ts'
import { toGatewayEvent, toResponse } from './lambda-gateway.ts'
import type { Target, Variables } from './target.ts'

/** A call of a function, as its process gets it. */
export interface Call {
  id: number
  payload: unknown
}

/** The outcome of a call. */
export type Outcome = { id: number } & ({ answer: unknown } | { failure: string })

/** A response in plain data; the body is base64. */
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

/** Runs the bundle for Lambda behind a gateway. */
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
  const server = await serve(handle)
  return {
    url: server.url,
    log: running.log,
    async close() {
      await server.close()
      running.close()
    },
  }
}

/** Runs a bundle with only these variables, and halts it until it is called. */
export async function startFunction(
  kind: 'lambda' | 'vercel',
  variables: Variables,
): Promise<FunctionProcess> {
  const { folder, file, remove } = putAlone(kind)
  const program = new URL('function-program.ts', import.meta.url).pathname
  const { child, exit, log } = launchNode(program, {
    parameters: [kind, file],
    cwd: folder,
    environment: variables,
    ipc: true,
  })
  const ended = exit.then(() => Promise.reject(new Error(`The function ended: ${log.join('\n')}`)))
  await Promise.race([once(child, 'message'), ended])
  const calls = new Map<number, (outcome: Outcome) => void>()
  let number = 0
  child.on('message', (outcome: Outcome) => {
    const settle = calls.get(outcome.id)
    calls.delete(outcome.id)
    if (calls.size === 0) child.kill('SIGSTOP')
    settle?.(outcome)
  })
  // Each call waits for the end by itself.
  ended.catch(() => {})
  child.kill('SIGSTOP')

  return {
    log,
    async call(payload) {
      number += 1
      const id = number
      const settled = new Promise<Outcome>((resolve) => calls.set(id, resolve))
      child.kill('SIGCONT')
      child.send({ id, payload } satisfies Call)
      const outcome = await Promise.race([settled, ended])
      if ('failure' in outcome) throw new Error(outcome.failure)
      return outcome.answer
    },
    close() {
      child.kill('SIGKILL')
      remove()
    },
  }
}
