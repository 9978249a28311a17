import { createServer } from 'node:http'
import * as z from 'zod'

const batch = z.array(z.object({ To: z.string() }))
type Item = Record<string, unknown>

/** A random number from 0 to 1 for each call; the same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What happens to a call, and how often. The rest is answered as it should be. */
const CALLS = {
  'cut before': 0.02,
  'cut after': 0.02,
  'cut during': 0.02,
  'rate limit': 0.05,
  maintenance: 0.01,
  'server error': 0.01,
  page: 0.01,
  'half the text': 0.01,
  'another order': 0.01,
  'too short': 0.01,
  'no codes': 0.03,
  garbled: 0.03,
  stranger: 0.01,
}
/** After so many calls it is away, for so many requests of whatever kind. */
const [OUTAGE_AFTER, OUTAGE_REQUESTS] = [50, 8]
const MISHAPS = Object.keys(CALLS).filter((name): name is keyof typeof CALLS => name in CALLS)

/**
 * Runs a provider over real HTTP that cuts, delays, refuses, rate-limits, reorders and garbles at random, is away now
 * and then, and keeps a ledger of what it accepted.
 */
export async function runRoughProvider(random: () => number) {
  /** The ids of the accepted mails, by recipient. */
  const ledger = new Map<string, string[]>()
  const happened = new Map<string, number>()
  let ids = 0
  let calls = 0
  let away = 0

  /** Each mishap once, and then at random. */
  function pick(): keyof typeof CALLS | 'fine' {
    const first = MISHAPS[calls]
    calls += 1
    if (first) return first
    let at = random()
    return (
      MISHAPS.find((name) => {
        at -= CALLS[name]
        return at < 0
      }) ?? 'fine'
    )
  }

  function accept({ To }: { To: string }): Item {
    const fate = random()
    if (fate < 0.01) return { ErrorCode: 406, Message: `Inactive: ${To}` }
    if (fate < 0.015) return { ErrorCode: 300, Message: 'Invalid email request' }
    ids += 1
    const id = `id-${ids}`
    ledger.set(To, [...(ledger.get(To) ?? []), id])
    return {
      ErrorCode: 0,
      Message: 'OK',
      MessageID: id,
      SubmittedAt: '2026-11-20T07:25:01.4170000-05:00',
      To,
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (away > 0) {
        away -= 1
        happened.set('outage', (happened.get('outage') ?? 0) + 1)
        return void (random() < 0.5 ? request.socket.destroy() : response.writeHead(502).end('<html></html>'))
      }
      if (request.method === 'GET') return void response.end('{"ID":1}')
      const messages = batch.parse(JSON.parse(Buffer.concat(chunks).toString()))
      const fate = pick()
      if (calls % OUTAGE_AFTER === 0) away = OUTAGE_REQUESTS
      happened.set(fate, (happened.get(fate) ?? 0) + 1)
      const answer = (status: number, body: string, headers = {}) =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
      if (fate === 'cut before') return void request.socket.destroy()
      if (fate === 'rate limit') {
        return answer(429, '', random() < 0.5 ? { 'retry-after': '0.01' } : {})
      }
      if (fate === 'maintenance') return answer(503, '{"ErrorCode":100,"Message":"Maintenance"}')
      const items = messages.map(accept)
      if (fate === 'cut after') return void request.socket.destroy()
      if (fate === 'server error') return answer(500, '{"ErrorCode":500,"Message":"Oops"}')
      if (fate === 'page') return answer(200, '<html></html>')
      if (fate === 'another order') items.sort(() => random() - 0.5)
      if (fate === 'too short') items.splice(Math.floor(random() * items.length), 1)
      if (fate === 'no codes') for (const item of items) if (item.ErrorCode === 0) delete item.ErrorCode
      const some = Math.floor(random() * items.length)
      if (fate === 'garbled') items[some] = { ...items[some], ErrorCode: {}, MessageID: null }
      if (fate === 'stranger') items[some] = { ...items[some], To: 'someone@elsewhere.example' }
      const text = JSON.stringify(items)
      if (fate === 'half the text') return answer(200, text.slice(0, text.length / 2))
      if (fate === 'cut during') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
        return void response.write(text.slice(0, text.length / 2), () => request.socket.destroy())
      }
      const delayMs = random() < 0.1 ? random() * 20 : 0
      if (delayMs) setTimeout(() => answer(200, text), delayMs)
      else answer(200, text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    ledger,
    happened,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
