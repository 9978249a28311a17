/**
 * Sends the events of a session to any host, signed anew: `pnpm replay <file>` at the root.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { sign } from '@org/core'
import { at } from './data.ts'
import { bodyOf, parseSession, type Session, type SessionEvent } from './session.ts'

const usage = `Usage: pnpm replay <file> [--url http://localhost:3009] [--secret whsec_…] [--new-ids]

Sends the events of a session, which the sandbox's page exports, to a host, one after another.

  --url      the host (http://localhost:3009)
  --secret   signs each event anew; PLATFORM_WEBHOOK_SECRET where it is left out
  --new-ids  gives each event a new id, so that nothing is answered from a record
  --help     prints this

The exit code is 1 where the file can't be read, or the host can't be reached.
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
    if (file === undefined || others.length > 0) return complain('One file is needed. Try --help.')
    if (!URL.canParse(values.url)) return complain(`--url: “${values.url}” is not a URL.`)
    const session = await readSession(file)
    const secret = values.secret ?? process.env.PLATFORM_WEBHOOK_SECRET?.trim().split(/\s+/)[0]
    return await replay(session, { url: values.url.replace(/\/+$/, ''), secret, newIds: values['new-ids'] })
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error))
  }
}

async function readSession(file: string): Promise<Session> {
  // pnpm runs scripts in the root of the workspace, wherever it is called.
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
    const answer = await send(event, target).catch(() => undefined)
    if (!answer)
      return complain(`${target.url} can’t be reached; ${index} of ${events.length} events were sent.`)
    const milliseconds = Math.round(performance.now() - started)
    const before = event.answered?.status
    const changed = before !== undefined && before !== answer.status
    if (changed) different += 1
    const name = [event.route, at(event.event, 'name'), at(event.event, 'functionCall', 'name')]
    const outcome = [
      answer.status,
      answer.code,
      answer.replayed ? 'replayed' : '',
      changed ? `was ${before}` : '',
    ]
    print(`${String(index + 1).padStart(5)}  ${words(name)} → ${words(outcome)} (${milliseconds} ms)\n`)
  }
  return print(
    `${events.length} events sent to ${target.url}, ${different} answered with another status than before.\n`,
  )
}

async function send(event: SessionEvent, { url, secret, newIds }: Target) {
  const body = bodyOf(event)
  const id = newIds ? crypto.randomUUID() : event.deliveryId
  const headers = new Headers({ 'content-type': 'application/json' })
  if (id !== undefined) headers.set('webhook-id', id)
  if (secret) {
    const signed = await sign({ secret, id: id ?? crypto.randomUUID(), body })
    for (const [name, value] of Object.entries(signed)) headers.set(name, value)
  }
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
