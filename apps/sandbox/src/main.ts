/**
 * The sandbox as a command: `npm start` at the root.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { run } from './run.ts'
import { processTerminal } from './terminal.ts'

const usage = `Usage: npm start [-- --once]

Starts the host beside a local platform and emulated providers, walks through what the host does, event by
event, and then stays up, with a page to see it, try it and break it. Ctrl-C ends it.

  --once   ends after the walk; the exit code is not 0 where a step failed
  --help   prints this

  PORT                          where the host listens (3009)
  SANDBOX_PORT                  where the page is served (3010)
  PLATFORM_WEBHOOK_SECRET       whsec_…: events are signed, and the host takes no others
  MAILER_SHARED_API_TOKEN       uses the real mail provider; the walk writes to its black hole alone
  MAILER_SHARED_FROM_EMAIL      needed with the token: a sender that the provider has confirmed
  IDP_SHARED_SECRET_KEY         uses a real application of the identity provider, and only reads there
  IDP_SHARED_PUBLISHABLE_KEY    needed with the secret key: the other key of the same instance
  IDP_PLATFORM_API_KEY          uses a real workspace of the identity provider, and creates nothing there
  SANDBOX_REAL_EFFECTS=1        creates users and an organization in the real application, and an application
                                in the real workspace; all but the organization are deleted again
  NO_COLOR                      no colours
`

const PAGE_PORT = 3010

/** Ended by SIGINT, as shells count it. */
const INTERRUPTED = 130

process.exitCode = await main()

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2))
  if (given === undefined) return 1
  if (given.help) {
    process.stdout.write(usage)
    return 0
  }
  const pagePort = readPort(process.env.SANDBOX_PORT)
  if (pagePort === undefined) {
    process.stderr.write('SANDBOX_PORT: expected a port from 0 to 65535.\n')
    return 1
  }
  const end = new AbortController()
  let walking = true
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort())
  // Who reads along may leave, for example `head`.
  process.stdout.on('error', () => process.exit(1))
  const code = await run({
    environment: process.env,
    terminal: processTerminal(process),
    once: given.once,
    pagePort,
    signal: end.signal,
    onReady: () => {
      walking = false
    },
  })
  return walking && end.signal.aborted ? INTERRUPTED : code
}

function readPort(given = ''): number | undefined {
  const text = given.trim() || String(PAGE_PORT)
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined
}

function readArguments(given: string[]): { once: boolean; help: boolean } | undefined {
  try {
    // Some package managers pass the “--” on that separates a script's own arguments.
    const args = given.filter((argument) => argument !== '--')
    const { values } = parseArgs({
      args,
      options: {
        once: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    return values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}. Try --help.\n`)
    return undefined
  }
}
