/**
 * A function in a process of its own, which is halted after each response, as platforms halt functions: work that
 * goes on after the response is lost.
 */
import { serve } from '@org/core/testing'
import { startWorker } from '../shared/processes.ts'
import { putAlone, type Target, type Variables } from './bundles.ts'
import { toGatewayEvent, toResponse } from './lambda-gateway.ts'

export interface HttpParts {
  status: number
  headers: [name: string, value: string][]
  body: string
}

type FunctionProcess = Awaited<ReturnType<typeof startFunction>>

export async function startLambda(variables: Variables): Promise<Target> {
  const running = await startFunction('lambda', variables)
  return serveFunction(running, async (request) =>
    toResponse(Object(await running.call(await toGatewayEvent(request)))),
  )
}

export async function startVercel(variables: Variables): Promise<Target> {
  const running = await startFunction('vercel', variables)
  return serveFunction(running, async (request) => {
    const body = Buffer.from(await request.arrayBuffer()).toString('base64')
    const { url, method } = request
    const payload = { url, method, headers: [...request.headers], ...(body !== '' && { body }) }
    const parts: HttpParts = Object(await running.call(payload))
    return new Response(Buffer.from(parts.body, 'base64'), parts)
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
export async function startFunction(kind: 'lambda' | 'vercel', variables: Variables) {
  const { folder, file, remove } = putAlone(kind)
  const { child, log, ask } = await startWorker(new URL('function-program.ts', import.meta.url).pathname, {
    parameters: [kind, file],
    cwd: folder,
    environment: variables,
  })
  child.kill('SIGSTOP')
  let underWay = 0
  return {
    log,
    async call(payload: unknown): Promise<unknown> {
      underWay += 1
      child.kill('SIGCONT')
      return ask<unknown>(payload).finally(() => {
        underWay -= 1
        if (underWay === 0) child.kill('SIGSTOP')
      })
    },
    close() {
      child.kill('SIGKILL')
      remove()
    },
  }
}
