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

class RedisError extends Error {}

/** Makes an error that says why Redis can’t be used. */
export function explainRedis(error: unknown): Error {
  if (error instanceof RedisError) return error
  if (!(error instanceof Error)) return new RedisError('unknown')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = error.message || code
  const cause = causes.find(([pattern]) => pattern.test(words))?.[1]
  return new RedisError(cause ? `${cause} (${words}).` : words, { cause: error })
}
