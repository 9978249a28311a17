/** The servers of the sandbox. */
import { type Served, serve } from '@org/core/testing'

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The sandbox can’t start; the message says why, and how to fix it. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}

/**
 * Serves a handler on a port of this machine.
 *
 * @param what names the server in the error
 * @param variable chooses the port
 * @throws {SandboxError} if the port is taken
 */
export async function listen(
  handle: (request: Request) => Promise<Response>,
  port: number,
  what: string,
  variable: string,
): Promise<Served> {
  try {
    return await serve(handle, { port })
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    const reason = taken ? 'something else listens there' : error instanceof Error ? error.message : 'unknown'
    const other = port > 60_000 ? port - 1_000 : port + 1_000
    throw new SandboxError(
      `The ${what} can’t listen on port ${port}: ${reason}. Choose another port, for example ${variable}=${other} npm start.`,
    )
  }
}
