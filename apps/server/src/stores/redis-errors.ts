import type { RedisLocation } from './redis-location.ts'

const REFUSED = /WRONGPASS|NOAUTH|AUTH <password>|AUTH called/
/** The causes of a connection that Redis refuses, by the words of Redis, of Node or of OpenSSL. */
const CAUSES: readonly (readonly [words: RegExp, cause: string])[] = [
  [REFUSED, 'Redis refuses the user name or the password of DELIVERY_STORE'],
  [
    /NOPERM|can't run this command/,
    'the user of DELIVERY_STORE lacks a permission; docs/scaling.md has the ACL line',
  ],
  [/DB index is out of range/, 'DELIVERY_STORE names a database that Redis does not have'],
  [/cluster support disabled/, 'Redis is no cluster: expected redis://… as DELIVERY_STORE'],
  [/certificate/i, 'Node does not trust the certificate of Redis; NODE_EXTRA_CA_CERTS names its authority'],
  [/wrong version|packet length too long/, 'Redis does not use TLS here: expected redis://… without the s'],
]
const SENTINEL_REFUSAL =
  'a sentinel refuses ?sentinelUsername=… and ?sentinelPassword=… of DELIVERY_STORE, or wants them'
/** Node did not find the name, or reach the address. */
const UNREACHABLE = /\bE[A-Z_]{5,}\b|was not reached/

/**
 * Makes an error that says why Redis can’t be used.
 *
 * @param asked the servers that were asked to connect
 */
export function explainRedis(error: unknown, asked?: Pick<RedisLocation, 'kind' | 'nodes'>): Error {
  if (!(error instanceof Error)) return new Error('unknown')
  const code = 'code' in error ? String(error.code) : ''
  const words = error.message || code
  const known = CAUSES.find(([pattern]) => pattern.test(words))
  const reason = asked?.kind === 'sentinel' && known?.[0] === REFUSED ? SENTINEL_REFUSAL : known?.[1]
  if (reason) return new Error(`${reason} (${words}).`, { cause: error })
  if (!asked || !UNREACHABLE.test(`${words} ${code}`)) return new Error(words, { cause: error })
  const where = asked.nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
  return new Error(`DELIVERY_STORE: ${where} can’t be reached (${words.replace(/\.$/, '')}).`, {
    cause: error,
  })
}
