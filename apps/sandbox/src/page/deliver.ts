/**
 * Delivers events from the page to the host, as the platform does: over HTTP, and signed where there is a secret.
 *
 * @module
 */
import { sign } from '@org/core'
import { at, listOf } from '../data.ts'
import { SOURCE_HEADER } from '../exchange.ts'
import type { TimelineEntry } from '../timeline.ts'
import type { PageContext } from './context.ts'

/** An event on its way to the host. */
export interface Outgoing {
  route: string
  body: string
  /** `undefined`: it is delivered without an id, and nothing remembers it. */
  id: string | undefined
}

/** What became of it. */
export interface Delivered {
  status: number
  replayed: boolean
  /** Of the event in the timeline. */
  number: number | undefined
  /** The faults of the input, where there are any. */
  errors: { path: string; message: string }[]
}

/** Sends an event, and finds it in the timeline. */
export async function deliverEvent({ world, timeline }: PageContext, event: Outgoing): Promise<Delivered> {
  const source = `page ${crypto.randomUUID()}`
  const headers = new Headers(await headersOf(event, world.webhookSecret))
  headers.set(SOURCE_HEADER, source)
  const url = `${world.url}/${event.route}/webhook`
  const response = await fetch(url, { method: 'POST', headers, body: event.body })
  const answer: unknown = await response.json()
  return {
    status: response.status,
    replayed: response.headers.get('idempotency-replayed') === 'true',
    number: timeline.newest((entry) => entry.source === source)?.number,
    errors: listOf(at(answer, 'errors')).map((fault) => ({
      path: String(at(fault, 'path')),
      message: String(at(fault, 'message')),
    })),
  }
}

/** Whether an event was delivered by the page. */
export function isOurs({ source }: TimelineEntry): boolean {
  return source?.startsWith('page') === true
}

/** The command that delivers an event once more: signed now, where there is a secret. It holds the body whole. */
export async function toCurl({ world }: PageContext, event: Outgoing): Promise<string> {
  const headers = Object.entries(await headersOf(event, world.webhookSecret))
  return [
    `curl -X POST ${quote(`${world.url}/${event.route}/webhook`)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(event.body)}`,
  ].join(' \\\n  ')
}

async function headersOf(
  { id, body }: Outgoing,
  secret: string | undefined,
): Promise<Record<string, string>> {
  const type = { 'content-type': 'application/json' }
  if (secret) return { ...type, ...(await sign({ secret, id: id ?? crypto.randomUUID(), body })) }
  return id === undefined ? type : { ...type, 'webhook-id': id }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
