/** The commands and programs that a person copies. */
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

/** A request, as a command for the shell or as a program. */
export function snippet(as: unknown, given: Snippet): string {
  const request = { ...given, headers: given.headers.filter(([name]) => !CONNECTION_HEADERS.test(name)) }
  return as === 'typescript' ? inTypeScript(request) : inShell(request)
}

function inShell({ method, url, headers, body }: Snippet): string {
  const parts = [
    `curl -X ${method} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`--data-raw ${quote(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

function inTypeScript({ method, url, headers, body }: Snippet): string {
  const lines = headers.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`)
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: ${JSON.stringify(method)},`,
    '  headers: {',
    ...lines,
    '  },',
    // The signature covers the bytes, so the body stays one text.
    ...(body === '' ? [] : [`  body: ${JSON.stringify(body)},`]),
    '})',
    'console.log(response.status, await response.text())',
    '',
  ].join('\n')
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
