/** The commands that a person copies. */
import type { HeaderList } from '../world/exchange.ts'

/** A request to write down. */
export interface Snippet {
  method: string
  url: string
  headers: HeaderList
  body: string
}

/** Headers of a connection; the next client brings its own. */
const CONNECTION_HEADERS = /^(host|connection|content-length|transfer-encoding|keep-alive)$/

/** A request as a command for the shell. */
export function curlOf({ method, url, headers, body }: Snippet): string {
  const kept = headers.filter(([name]) => !CONNECTION_HEADERS.test(name))
  const parts = [
    `curl -X ${method} ${quote(url)}`,
    ...kept.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`--data-raw ${quote(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
