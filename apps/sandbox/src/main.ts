/** The sandbox as a command: `npm start` at the root. */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { run } from './run.ts'
import { SandboxError } from './world/listen.ts'

const usage = `Usage: npm start [-- --walk] [-- --once]

Starts the host beside a local platform and emulated providers, tries every route, and keeps running with a page
on which you can see it, try it and break it. Ctrl-C ends it.

  --walk   shows the walk event by event: each response, each call and each check
  --once   ends after the walk; the exit code is 1 if a step fails
  --help   prints this text

  PORT                          the port of the host (3009, or the next free one)
  SANDBOX_PORT                  the port of the page (3010, or the next free one)
  PLATFORM_WEBHOOK_SECRET       whsec_…: the host accepts only signed events
  MAILER_SHARED_API_TOKEN       uses the real mail provider, without a walk
  MAILER_SHARED_FROM_EMAIL      needed with the token: a sender that the provider has confirmed
  IDP_SHARED_SECRET_KEY         uses a real application of the identity provider, without a walk
  IDP_SHARED_PUBLISHABLE_KEY    needed with the secret key: the other key of the same instance
  IDP_PLATFORM_API_KEY          uses a real workspace of the identity provider, without a walk
  NO_COLOR                      no colours
`

const DEFAULT_PORT = 3010

process.exitCode = await main().catch((error) => {
  // Any other error keeps its stack.
  const known = error instanceof SandboxError || String(error.code).startsWith('ERR_PARSE_ARGS')
  if (!known) throw error
  process.stderr.write(`${error.message}\n`)
  return 1
})

async function main(): Promise<number> {
  const { values } = parseArgs({
    // Some package managers forward the “--” before a script’s own arguments.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    options: {
      once: { type: 'boolean', default: false },
      walk: { type: 'boolean', default: false },
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
  const { env: environment, stdin, stdout, stderr } = process
  const terminal = {
    write: (text: string) => stdout.write(text),
    writeError: (text: string) => stderr.write(text),
    // https://no-color.org
    colours: stdout.isTTY === true && !environment.NO_COLOR,
  }
  const takesKeys = stdin.isTTY === true
  const onReady = (_: unknown, pageUrl: string | undefined) => {
    if (!takesKeys || pageUrl === undefined) return
    // Without Return; then Ctrl-C is a key, too.
    stdin.setRawMode(true).on('data', (keys) => {
      if (String(keys) === 'o') open(pageUrl)
      // Keys that follow each other quickly arrive together.
      if (String(keys).includes('\u0003')) end.abort()
    })
  }
  const { once, walk } = values
  const code = await run({
    environment,
    terminal,
    once,
    walk,
    pagePort,
    takesKeys,
    signal: end.signal,
    onReady,
  })
  // A listening terminal keeps the process alive.
  stdin.pause()
  return code
}

/** Opens a page in the browser of this machine. */
function open(url: string): void {
  const [command, ...before] = { darwin: ['open'], win32: ['cmd', '/c', 'start'] }[
    String(process.platform)
  ] ?? ['xdg-open']
  const child = spawn(String(command), [...before, url], { stdio: 'ignore', detached: true })
  child.on('error', () => process.stdout.write(`  ${command} is missing: open ${url} yourself.\n`))
  child.unref()
}
