import type { RedisLocation } from '../redis-location.ts'

/** The causes of a connection that Redis refuses, by the words of Redis, of Node or of OpenSSL. */
const causes: readonly (readonly [words: RegExp, cause: string])[] = [
  [
    /WRONGPASS|NOAUTH|AUTH <password>|AUTH called/,
    'Redis refuses the user name or the password of DELIVERY_STORE',
  ],
  [
    /NOPERM|can't run this command/,
    'the user of DELIVERY_STORE lacks a permission; docs/scaling.md has the ACL line',
  ],
  [/DB index is out of range/, 'DELIVERY_STORE names a database that Redis does not have'],
  [/cluster support disabled/, 'Redis is no cluster: expected redis://… as DELIVERY_STORE'],
  [
    /certificate/i,
    'Node does not trust the certificate of Redis; NODE_EXTRA_CA_CERTS names the file of an own authority',
  ],
  [
    /wrong version number|packet length too long/,
    'Redis does not use TLS here: expected redis://… without the s',
  ],
]

/** Node did not find the name, or reach the address. */
const UNREACHABLE = /\bE[A-Z_]{5,}\b|was not reached/
const SENTINEL_REFUSAL =
  'a sentinel refuses ?sentinelUsername=… and ?sentinelPassword=… of DELIVERY_STORE, or wants them'

class RedisError extends Error {}

/**
 * Makes an error that says why Redis can’t be used.
 *
 * @param asked the servers that were asked
 */
export function explainRedis(error: unknown, asked?: Pick<RedisLocation, 'kind' | 'nodes'>): Error {
  if (error instanceof RedisError) return error
  if (!(error instanceof Error)) return new RedisError('unknown')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = error.message || code
  const known = causes.find(([pattern]) => pattern.test(words))
  const cause = asked?.kind === 'sentinel' && known === causes[0] ? SENTINEL_REFUSAL : known?.[1]
  if (!cause && asked && UNREACHABLE.test(`${words} ${code}`)) {
    const where = asked.nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
    return new RedisError(`DELIVERY_STORE: ${where} can’t be reached (${words.replace(/\.$/, '')}).`, {
      cause: error,
    })
  }
  return new RedisError(cause ? `${cause} (${words}).` : words, { cause: error })
}
