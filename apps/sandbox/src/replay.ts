/**
 * Sends the events of a session to any host, signed anew: `pnpm replay <file>` at the root.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { deliveryHeaders } from './world/deliver.ts'
import { at } from './world/json.ts'
import { bodyOf, parseSession, type Session, type SessionEvent } from './world/session.ts'
import { plural } from './world/text.ts'

const usage = `Usage: pnpm replay <file> [--url http://localhost:3009] [--secret whsec_…] [--new-ids]

Sends the events of a session to a host, one after another. The page of the sandbox exports sessions.

  --url      the host (http://localhost:3009)
  --secret   signs each event anew (PLATFORM_WEBHOOK_SECRET)
  --new-ids  gives each event a new id, so that the host replays no recorded response
  --help     prints this text

The exit code is 1 if the file can't be read or the host can't be reached.
`

process.exitCode = await main(process.argv.slice(2))

async function main(given: string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: given.filter((argument) => argument !== '--'),
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'http://localhost:3009' },
        secret: { type: 'string' },
        'new-ids': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return print(usage)
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) return complain('Name one file. Try --help.')
    if (!URL.canParse(values.url)) return complain(`--url: “${values.url}” is not a URL.`)
    const session = await readSession(file)
    const secret = values.secret ?? process.env.PLATFORM_WEBHOOK_SECRET?.trim().split(/\s+/)[0]
    return await replay(session, { url: values.url.replace(/\/+$/, ''), secret, newIds: values['new-ids'] })
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error))
  }
}

async function readSession(file: string): Promise<Session> {
  // pnpm runs scripts in the root of the workspace; INIT_CWD is the folder of the caller.
  const path = resolve(process.env.INIT_CWD ?? '.', file)
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} can’t be read.`)
  })
  try {
    return parseSession(text)
  } catch (error) {
    throw new Error(`${path} can’t be replayed: ${error instanceof Error ? error.message : error}.`)
  }
}

interface Target {
  url: string
  secret: string | undefined
  newIds: boolean
}

async function replay({ events }: Session, target: Target): Promise<number> {
  let different = 0
  for (const [index, event] of events.entries()) {
    const started = performance.now()
    const response = await send(event, target).catch(() => undefined)
    if (!response)
      return complain(`${target.url} can’t be reached; ${index} of ${events.length} events were sent.`)
    const milliseconds = Math.round(performance.now() - started)
    const before = event.answered?.status
    const changed = before !== undefined && before !== response.status
    if (changed) different += 1
    const name = [event.route, at(event.event, 'name'), at(event.event, 'functionCall', 'name')]
    const outcome = [
      response.status,
      response.code,
      response.replayed ? 'replayed' : '',
      changed ? `was ${before}` : '',
    ]
    print(`${String(index + 1).padStart(5)}  ${words(name)} → ${words(outcome)} (${milliseconds} ms)\n`)
  }
  return print(
    `${events.length} events sent to ${target.url}; the status of ${plural(different, 'response')} changed.\n`,
  )
}

async function send(event: SessionEvent, { url, secret, newIds }: Target) {
  const body = bodyOf(event)
  const id = newIds ? crypto.randomUUID() : event.deliveryId
  const headers = await deliveryHeaders({ id, body }, secret)
  const response = await fetch(`${url}/${event.route}/webhook`, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
  })
  const problem: unknown = await response.json().catch(() => undefined)
  const code = at(problem, 'code')
  return {
    status: response.status,
    code: response.status >= 400 && typeof code === 'string' ? code : undefined,
    replayed: response.headers.get('idempotency-replayed') === 'true',
  }
}

function words(parts: readonly unknown[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => String(part).replaceAll(/\p{Cc}/gu, '·'))
    .join(' ')
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

function complain(message: string): number {
  process.stderr.write(`${message}\n`)
  return 1
}
