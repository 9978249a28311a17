/** Where Redis is: one server, a cluster, or a primary that sentinels know. */

interface Credentials {
  username?: string
  password?: string
}

/** A location in parts. */
export interface RedisLocation {
  kind: 'server' | 'cluster' | 'sentinel'
  /** The addresses of the servers, or of the sentinels. */
  nodes: { host: string; port: number }[]
  /** Whether every connection is encrypted, those to sentinels too. */
  tls: boolean
  database: number
  /** The account on the servers that hold the records. */
  credentials: Credentials
  /** The name of the primary, and the account on the sentinels. */
  sentinel: { name: string; credentials: Credentials }
}

const FORM = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/
const SENTINEL_OPTIONS = ['sentinelUsername', 'sentinelPassword']

/**
 * Parses `redis://…`, `redis+cluster://a,b,c` or `redis+sentinel://a,b/name`; with `rediss` for TLS.
 *
 * @throws {Error} with the fault, without any part of the location
 */
export function parseRedisLocation(location: string): RedisLocation {
  const [, secure, group, userinfo = '', hosts = '', path = '', query] =
    FORM.exec(location) ??
    fail('expected redis://host:port, redis+cluster://a,b,c or redis+sentinel://a,b/name')
  const kind = group === 'cluster' || group === 'sentinel' ? group : 'server'
  const nodes = hosts.split(',').map((host) => parseNode(host, kind === 'sentinel' ? 26_379 : 6_379))
  if (kind === 'server' && nodes.length > 1)
    fail('redis:// has one host; expected redis+cluster://a,b,c or redis+sentinel://a,b/name for several')
  const [, name = '', database = ''] =
    (kind === 'sentinel' ? /^([^/]+)(?:\/(\d{0,4}))?$/ : /^()(\d{0,4})$/).exec(path) ??
    fail('expected a number as the database, such as /0; redis+sentinel:// has /<name of the primary> first')
  if (kind === 'cluster' && Number(database) !== 0) fail('a Redis Cluster has no other database than 0')
  const options = new URLSearchParams(query)
  const allowed = kind === 'sentinel' ? SENTINEL_OPTIONS : []
  if ([...options.keys()].some((option) => !allowed.includes(option)))
    fail(`after “?”, redis+sentinel:// takes ${SENTINEL_OPTIONS.join(' and ')}, and the other forms nothing`)
  const [username = '', ...password] = userinfo.split(':')
  return {
    kind,
    nodes,
    tls: secure === 's',
    database: Number(database),
    credentials: credentialsOf(decode(username), decode(password.join(':'))),
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

function parseNode(text: string, defaultPort: number): RedisLocation['nodes'][number] {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined
  if (!url?.hostname || url.host !== text)
    return fail('expected hosts such as redis.example.com:6379, separated by commas')
  // A connection takes an IPv6 address without its brackets.
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || defaultPort) }
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
