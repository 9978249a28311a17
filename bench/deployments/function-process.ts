/**
 * A function in a process of its own, which is halted after each response, as platforms halt functions: work that
 * goes on after the response is lost.
 */
import { serve } from '@org/core/testing'
import { startListening } from '../shared/processes.ts'
import { putAlone, type Target, type Variables } from './bundles.ts'
import { toGatewayEvent, toResponse } from './lambda-gateway.ts'

type FunctionProcess = Awaited<ReturnType<typeof startFunction>>

const program = new URL('function-program.ts', import.meta.url).pathname

/** Runs a bundle with only these variables, and halts it until it is called. */
async function startFunction(kind: 'lambda' | 'vercel', variables: Variables) {
  const { folder, file } = putAlone(kind)
  const options = { parameters: [kind, file], cwd: folder, environment: variables }
  const { child, log, url, kill } = await startListening(program, options)
  child.kill('SIGSTOP')
  let underWay = 0
  return {
    log,
    /** Makes a request of the function, and reads the whole response. */
    async call(path: string, request: RequestInit): Promise<Response> {
      underWay += 1
      child.kill('SIGCONT')
      try {
        const response = await fetch(url + path, request)
        const body = await response.arrayBuffer()
        return new Response(body.byteLength > 0 ? body : null, response)
      } finally {
        underWay -= 1
        if (underWay === 0) child.kill('SIGSTOP')
      }
    },
    close: kill,
  }
}

async function serveFunction(
  { log, close }: FunctionProcess,
  handle: (request: Request) => Promise<Response>,
): Promise<Target> {
  const server = await serve(handle)
  return {
    url: server.url,
    log,
    async close() {
      await server.close()
      await close()
    },
  }
}

/** Runs the bundle for Lambda, and calls it with events. */
export async function startLambdaFunction(variables: Variables) {
  const running = await startFunction('lambda', variables)
  const invoke = async (event: object) =>
    (await running.call('/', { method: 'POST', body: JSON.stringify(event) })).json()
  return { ...running, invoke }
}

export async function startLambda(variables: Variables): Promise<Target> {
  const running = await startLambdaFunction(variables)
  return serveFunction(running, async (request) =>
    toResponse(await running.invoke(await toGatewayEvent(request))),
  )
}

export async function startVercel(variables: Variables): Promise<Target> {
  const running = await startFunction('vercel', variables)
  return serveFunction(running, async (request) => {
    const { pathname, search } = new URL(request.url)
    const body = await request.arrayBuffer()
    const { method, headers } = request
    return running.call(pathname + search, { method, headers, ...(body.byteLength > 0 && { body }) })
  })
}
