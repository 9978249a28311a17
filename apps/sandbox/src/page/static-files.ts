/**
 * The page's scripts and styles, as they lie in `static/`.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('static/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder))]))

/** The answer with one file; `undefined` where there is none of that name. */
export function staticFile(name: string): Response | undefined {
  const content = files.get(name)
  const type = types[name.split('.').at(-1) ?? '']
  if (!content || !type) return undefined
  return new Response(new Uint8Array(content), { headers: { 'content-type': type } })
}
