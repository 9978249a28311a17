/** Sends the events of a session to any host, signed anew: `npm run replay <file>` at the root. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { deliveryHeaders } from './world/deliver.ts'
import { at, parse } from './world/json.ts'
import { parseSession, type SessionEvent } from './world/session.ts'
import { plural } from './world/text.ts'

const usage = `Usage: npm run replay -- <file> [--url http://localhost:3009] [--secret whsec_…] [--new-ids]

Sends the events of a session to a host, one after another. The page of the sandbox exports sessions.

  --url      the host (http://localhost:3009)
  --secret   signs each event anew (PLATFORM_WEBHOOK_SECRET)
  --new-ids  gives each event a new id, so that the host replays no recorded response
  --help     prints this text

The exit code is 1 if the file can't be read or the host can't be reached.
`

await main().catch((error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://localhost:3009' },
      secret: { type: 'string', default: process.env.PLATFORM_WEBHOOK_SECRET?.trim().split(/\s+/)[0] },
      'new-ids': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return print(usage)
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new Error('Name one file. Try --help.')
  if (!URL.canParse(values.url)) throw new Error(`--url: “${values.url}” is not a URL.`)
  // pnpm runs scripts in the root of the workspace; INIT_CWD is the folder of the caller.
  const path = resolve(process.env.INIT_CWD ?? '.', file)
  const text = await readFile(path, 'utf8').catch(({ code }) => {
    throw new Error(`${path} can’t be read (${code}).`)
  })
  const events = parseSession(text, path)
  const url = values.url.replace(/(?<!\/)\/+$/, '')
  let changed = 0
  for (const [index, event] of events.entries()) {
    const deliveryId = values['new-ids'] ? crypto.randomUUID() : event.deliveryId
    const { status, line } = await send({ ...event, deliveryId }, url, values.secret).catch(() => {
      throw new Error(`${url} can’t be reached; ${index} of ${events.length} events were sent.`)
    })
    const isChanged = event.status !== undefined && event.status !== status
    if (isChanged) changed += 1
    print(`${String(index + 1).padStart(5)}  ${line}${isChanged ? `, was ${event.status}` : ''}\n`)
  }
  print(`${events.length} events sent to ${url}; the status of ${plural(changed, 'response')} changed.\n`)
}

async function send({ route, body, deliveryId: id }: SessionEvent, url: string, secret: string | undefined) {
  const headers = await deliveryHeaders({ id, body }, secret)
  const options = { method: 'POST', headers, body, redirect: 'manual' } as const
  const response = await fetch(`${url}/${route}/webhook`, options)
  const { status } = response
  const problem = parse(await response.text())
  const event = parse(body)
  const words = [
    [route, at(event, 'name'), at(event, 'functionCall', 'name'), '→', status],
    status >= 400 && at(problem, 'code'),
    response.headers.get('idempotency-replayed') === 'true' && 'replayed',
  ]
  const line = words.flat().filter(Boolean).join(' ')
  return { status, line: line.replaceAll(/\p{Cc}/gu, '·') }
}

function print(text: string): void {
  process.stdout.write(text)
}
