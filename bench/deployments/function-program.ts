/** Runs a function as its platform does: `node function-program.ts lambda|vercel <bundle>`. Each order is a call. */
import { pathToFileURL } from 'node:url'
import { serveOrders } from '../shared/serve-orders.ts'
import type { HttpParts } from './function-process.ts'

const [kind, bundle = ''] = process.argv.slice(2)
const functions = await import(pathToFileURL(bundle).href)
const LIMIT_MS = 30_000

serveOrders(kind === 'lambda' ? callHandler : callFetch)

async function callHandler(event: unknown): Promise<unknown> {
  const end = Date.now() + LIMIT_MS
  return functions.handler(event, { getRemainingTimeInMillis: () => end - Date.now() })
}

async function callFetch(payload: unknown): Promise<HttpParts> {
  const { url = '', method = 'GET', headers = [], body } = Object(payload)
  const init = { method, headers, body: body === undefined ? null : Buffer.from(body, 'base64') }
  const response: Response = await functions.default.fetch(new Request(url, init))
  return {
    status: response.status,
    headers: [...response.headers],
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
  }
}
