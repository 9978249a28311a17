/** Where Redis is: one server, a cluster, or a primary that sentinels know. */

/** The address of a server. */
interface RedisNode {
  host: string
  port: number
}

interface Credentials {
  username?: string
  password?: string
}

/** A location in parts. */
export interface RedisLocation {
  kind: 'server' | 'cluster' | 'sentinel'
  nodes: RedisNode[]
  /** Whether every connection is encrypted, those to sentinels too. */
  tls: boolean
  database: number
  /** Of the servers that hold the records. */
  credentials: Credentials
  sentinel: { /** Of the primary. */ name: string; credentials: Credentials }
}

const SCHEME = /^redis(s?)(?:\+(cluster|sentinel))?:\/\//
const SENTINEL_OPTIONS = ['sentinelUsername', 'sentinelPassword']

/**
 * Parses `redis://…`, `redis+cluster://a,b,c` or `redis+sentinel://a,b/name`; with `rediss` for TLS.
 *
 * @throws {Error} with the fault, without any part of the location
 */
export function parseRedisLocation(location: string): RedisLocation {
  const [scheme, secure, kind = 'server'] =
    SCHEME.exec(location) ??
    fail('expected redis://host:port, redis+cluster://a,b,c or redis+sentinel://a,b/name')
  const [rest, query = ''] = splitAt(location.slice(scheme.length), '?')
  const [authority, path = ''] = splitAt(rest, '/')
  const hosts = authority.slice(authority.lastIndexOf('@') + 1)
  const userinfo = authority.slice(0, Math.max(0, authority.length - hosts.length - 1))
  const isSentinel = kind === 'sentinel'
  const nodes = hosts.split(',').map((host) => parseNode(host, isSentinel ? 26_379 : 6_379))
  if (kind === 'server' && nodes.length > 1)
    fail('redis:// has one host; expected redis+cluster://a,b,c or redis+sentinel://a,b/name for several')
  const [name = '', database = '', ...more] = isSentinel ? path.split('/') : ['', ...path.split('/')]
  if (more.length > 0 || !/^\d{0,4}$/.test(database)) fail('expected a number as the database, such as /0')
  if (isSentinel && name === '')
    fail('redis+sentinel:// needs the name of the primary after the hosts, such as /mymaster')
  if (kind === 'cluster' && Number(database) !== 0) fail('a Redis Cluster has no other database than 0')
  const options = new URLSearchParams(query)
  for (const option of options.keys()) {
    if (isSentinel && SENTINEL_OPTIONS.includes(option)) continue
    fail(`after “?”, redis+sentinel:// takes ${SENTINEL_OPTIONS.join(' and ')}, and the other forms nothing`)
  }
  const [username, password = ''] = splitAt(userinfo, ':')
  return {
    kind: kind === 'cluster' || kind === 'sentinel' ? kind : 'server',
    nodes,
    tls: secure === 's',
    database: Number(database),
    credentials: credentialsOf(decode(username), decode(password)),
    sentinel: {
      name: decode(name),
      credentials: credentialsOf(options.get('sentinelUsername'), options.get('sentinelPassword')),
    },
  }
}

/** Every password in a location, which must stay out of logs. */
export function passwordsOf({ credentials, sentinel }: RedisLocation): string[] {
  return [credentials, sentinel.credentials].flatMap(({ password }) => password ?? [])
}

function parseNode(text: string, defaultPort: number): RedisNode {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined
  const isNode = text !== '' && url?.host === text && url.hostname !== ''
  if (!url || !isNode) return fail('expected hosts such as redis.example.com:6379, separated by commas')
  // A connection takes an IPv6 address without its brackets.
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || defaultPort) }
}

/** Splits a text at the first separator. */
function splitAt(text: string, separator: string): [before: string, after?: string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}

function credentialsOf(username: string | null, password: string | null): Credentials {
  return { ...(username && { username }), ...(password && { password }) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return fail('a “%” in the user name, the password or the name must be written as %25')
  }
}

function fail(message: string): never {
  throw new Error(message)
}
