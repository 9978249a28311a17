/** The servers of the sandbox. */
import { type Served, serve } from '@org/core/testing'

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The sandbox can’t start; the message says why, and how to fix it. */
export class SandboxError extends Error {}

/** Ports to try after one that is taken. */
const MOST_PORTS = 50

/**
 * Serves a handler on a port of this machine.
 * @param what names the server in an error
 * @param options.variable chooses the port; without it in the environment, the next free port will do
 * @returns the server; `taken` is the given port if something else listens there
 * @throws {SandboxError} if it can’t listen
 */
export async function listen(
  what: string,
  handle: (request: Request) => Promise<Response>,
  { port, variable, environment }: { port: number; variable: string; environment: Environment },
): Promise<Served & { taken: number | undefined }> {
  const last = environment[variable]?.trim() ? port : port + MOST_PORTS
  for (let tried = port; ; tried += 1) {
    const server = await serve(handle, { port: tried }).catch((error: Error) => error)
    if (!(server instanceof Error)) return { ...server, taken: tried === port ? undefined : port }
    const isTaken = 'code' in server && server.code === 'EADDRINUSE'
    if (isTaken && tried < last) continue
    const reason = isTaken ? 'something else listens there' : server.message
    throw new SandboxError(
      `The ${what} can’t listen on port ${tried}: ${reason}. ${variable} chooses another one.`,
    )
  }
}
