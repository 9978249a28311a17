/** The servers of the sandbox. */
import { type Served, serve } from '@org/core/testing'

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The sandbox can’t start; the message says why, and how to fix it. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/** Whether another port will do, because nobody has asked for this one. */
export type PortChoice = 'exactly' | 'or the next'

/** Ports to try after one that is taken. */
const MOST_PORTS = 50

/** A server, and the port that it would have had if nobody else listened there. */
export type Listening = Served & { taken: number | undefined }

/**
 * Serves a handler on a port of this machine.
 * @param choice whether another port will do if this one is taken
 * @param what names the server in the error
 * @param variable chooses the port
 * @throws {SandboxError} if the port is taken; the message names a free one
 */
export async function listen(
  handle: (request: Request) => Promise<Response>,
  { port, choice, what, variable }: { port: number; choice: PortChoice; what: string; variable: string },
): Promise<Listening> {
  let reason = ''
  for (let tried = port; tried <= Math.min(65_535, port + MOST_PORTS); tried += 1) {
    const server = await serve(handle, { port: tried }).catch((error: Error) => error)
    if (!(server instanceof Error)) {
      if (tried === port) return { ...server, taken: undefined }
      if (choice === 'or the next') return { ...server, taken: port }
      await server.close()
      throw new SandboxError(
        `The ${what} can’t listen on port ${port}: ${reason}. Port ${tried} is free: ${variable}=${tried} npm start`,
      )
    }
    const taken = 'code' in server && server.code === 'EADDRINUSE'
    reason ||= taken ? 'something else listens there' : server.message
    if (!taken) break
  }
  throw new SandboxError(
    `The ${what} can’t listen on port ${port}: ${reason}. ${variable} chooses another one.`,
  )
}
