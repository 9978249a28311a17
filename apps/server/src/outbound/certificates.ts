/** Tells in the error of a failed connection when the certificate of the server is valid: Node tells only a code. */
import { once } from 'node:events'
import { isIP, type LookupFunction } from 'node:net'
import type { DetailedPeerCertificate } from 'node:tls'
import { rootOf } from '@org/core/errors'
import type { Connection } from './outbound.ts'

const OUT_OF_DATE = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'rediss:': 6379 }
/** Longest time to read the dates, in milliseconds. */
const LIMIT_MS = 2_000
/** For so long, in milliseconds, no server is asked again. */
const KEPT_MS = 60_000
/** Servers whose dates are kept. If there are more, all are forgotten. */
const MOST_SERVERS = 1_000

const kept = new Map<string, { at: number; dates: Promise<string | undefined> }>()

/**
 * Makes the errors of a connection tell the dates of a certificate.
 *
 * @param lookup resolves the names of servers, as it does for the connection itself
 */
export function withDates(connection: Connection, lookup?: LookupFunction): Connection {
  return (request) =>
    connection(request).catch(async (error: unknown) => {
      await addDates(error, request.url, lookup)
      throw error
    })
}

/**
 * Adds the dates to the message of an error, if a certificate that has expired or is not yet valid is its cause. Node has
 * closed the connection and forgotten the certificate by then, so it is read from a second connection, at most once a
 * minute. Connections to servers with a valid certificate are left alone.
 */
export async function addDates(error: unknown, url: string, lookup?: LookupFunction): Promise<void> {
  const root = rootOf(error)
  if (!(root instanceof Error && 'code' in root && OUT_OF_DATE.includes(String(root.code)))) return
  const { protocol, host } = new URL(url)
  const server = `${protocol}//${host}`
  let known = kept.get(server)
  if (!known || performance.now() - known.at > KEPT_MS) {
    if (kept.size === MOST_SERVERS) kept.clear()
    known = { at: performance.now(), dates: readDates(new URL(url), lookup) }
    kept.set(server, known)
  }
  const dates = await known.dates
  // Calls that wait for the same connection fail with the same error.
  if (dates !== undefined && !root.message.includes(dates)) root.message += ` (${dates})`
}

/** Reads the dates of the certificate of a server, or of an authority above it, that is out of date. Sends nothing. */
async function readDates(
  { protocol, hostname, port }: URL,
  lookup: LookupFunction | undefined,
): Promise<string | undefined> {
  const { connect } = await import('node:tls')
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port) || DEFAULT_PORTS[protocol],
    servername: isIP(host) ? '' : host,
    lookup,
    // The server need not be who it says: only dates are read.
    rejectUnauthorized: false,
  })
  socket.on('error', () => {})
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(LIMIT_MS) })
    const certificate = findOutOfDate(socket.getPeerCertificate(true))
    return certificate && `valid from ${certificate.valid_from} to ${certificate.valid_to}`
  } catch {
    // The error of the call itself tells enough.
    return undefined
  } finally {
    socket.destroy()
  }
}

function findOutOfDate(own: DetailedPeerCertificate): DetailedPeerCertificate | undefined {
  const chain = new Set<DetailedPeerCertificate>()
  // An authority that signed itself is its own issuer, and an unknown one is missing.
  for (let next: DetailedPeerCertificate | undefined = own; next && !chain.has(next); ) {
    chain.add(next)
    next = next.issuerCertificate
  }
  const now = Date.now()
  return [...chain].find((each) => now < Date.parse(each.valid_from) || now > Date.parse(each.valid_to))
}
