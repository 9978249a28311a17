/** The commands that a person copies. */

/** A POST as a command for the shell. */
export function curlOf(url: string, headers: [name: string, value: string][], body: string): string {
  const options = headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  return [`curl -X POST ${quote(url)}`, ...options, `--data-raw ${quote(body)}`].join(' \\\n  ')
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
