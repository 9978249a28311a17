/** Sends the events of a session to any host, signed anew: `npm run replay <file>` at the root. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { deliveryHeaders } from './world/deliver.ts'
import { at } from './world/json.ts'
import { bodyOf, parseSession, type SessionEvent } from './world/session.ts'
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
  let different = 0
  for (const [index, event] of events.entries()) {
    const id = values['new-ids'] ? crypto.randomUUID() : event.deliveryId
    const { changed, line } = await send(event, id, url, values.secret).catch(() => {
      throw new Error(`${url} can’t be reached; ${index} of ${events.length} events were sent.`)
    })
    if (changed) different += 1
    print(`${String(index + 1).padStart(5)}  ${line}\n`)
  }
  print(`${events.length} events sent to ${url}; the status of ${plural(different, 'response')} changed.\n`)
}

async function send(event: SessionEvent, id: string | undefined, url: string, secret: string | undefined) {
  const body = bodyOf(event)
  const headers = await deliveryHeaders({ id, body }, secret)
  const started = performance.now()
  const response = await fetch(`${url}/${event.route}/webhook`, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
  })
  const problem: unknown = await response.json().catch(() => undefined)
  const milliseconds = Math.round(performance.now() - started)
  const before = event.answered?.status ?? response.status
  const changed = before !== response.status
  const name = [event.route, at(event.event, 'name'), at(event.event, 'functionCall', 'name')]
  const outcome = [
    response.status,
    response.status >= 400 ? at(problem, 'code') : undefined,
    response.headers.get('idempotency-replayed') === 'true' ? 'replayed' : undefined,
    changed ? `was ${before}` : undefined,
  ]
  return { changed, line: `${words(name)} → ${words(outcome)} (${milliseconds} ms)` }
}

function words(parts: readonly unknown[]): string {
  const present = parts.filter((part) => part !== undefined)
  return present.join(' ').replaceAll(/\p{Cc}/gu, '·')
}

function print(text: string): void {
  process.stdout.write(text)
}
