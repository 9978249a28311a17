/** The sandbox as a command: `npm start` at the root. */
import { parseArgs } from 'node:util'
import { ConfigurationError } from '@org/server'
import { run } from './run.ts'
import { SandboxError } from './world/listen.ts'

const usage = `Usage: npm start [-- --once]

Starts the host beside a local platform and emulated providers, tries every route, and keeps running with a page
on which you can see it, try it and break it. Ctrl-C ends it.

  --once   ends after the walk; the exit code is 1 if a step fails
  --help   prints this text

  PORT                          the port of the host (3009, or the next free one)
  SANDBOX_PORT                  the port of the page (3010, or the next free one)
  PLATFORM_WEBHOOK_SECRET       whsec_…: the host accepts only signed events
  NO_COLOR                      no colours
`

const DEFAULT_PORT = 3010

process.exitCode = await main().catch((error) => {
  // Any other error keeps its stack.
  const isKnown = error instanceof SandboxError || error instanceof ConfigurationError
  if (!isKnown && !String(error.code).startsWith('ERR_PARSE_ARGS')) throw error
  process.stderr.write(`${error.message}\n`)
  return 1
})

async function main(): Promise<number> {
  const { values } = parseArgs({
    // Some package managers forward the “--” before a script’s own arguments.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    options: {
      once: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const pagePort = Number(process.env.SANDBOX_PORT?.trim() || DEFAULT_PORT)
  if (!Number.isInteger(pagePort) || pagePort < 0 || pagePort > 65_535) {
    throw new SandboxError('SANDBOX_PORT: expected a port from 0 to 65535.')
  }
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort())
  // The launcher has gone.
  process.on('disconnect', () => end.abort())
  process.channel?.unref()
  // The reader may close the pipe, for example `head`.
  process.stdout.on('error', () => process.exit(1))
  const { env: environment, stdout } = process
  const terminal = {
    write: (text: string) => stdout.write(text),
    // https://no-color.org
    colours: stdout.isTTY === true && !environment.NO_COLOR,
  }
  return run({ environment, terminal, once: values.once, pagePort, signal: end.signal })
}
