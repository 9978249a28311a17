import { type Fault, serve } from '@org/core/testing'
import { afterAll, expect, it } from 'vitest'
import type { BatchJournal, BatchResult, MessageRecord, MessageResult } from '../src/index.ts'
import { createMailer, isMailError } from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'
import { addressOf, message } from './support.ts'

/** `pnpm --filter @org/mailer mails` sends a million. */
const MAILS = Number(process.env.MAILS ?? 30_000)
const SEED = Number(process.env.SEED ?? 254_878_655)
const BATCH = 6_000
/** The share of the calls that a mishap meets. */
const TROUBLE = 0.2
/** After so many calls the provider is away, for so many requests of whatever kind. */
const [OUTAGE_AFTER, OUTAGE_REQUESTS] = [50, 8]

let state = SEED
/** A random number from 0 to 1; the same seed gives the same numbers (Park and Miller). */
function random(): number {
  state = (state * 48_271) % 2_147_483_647
  return state / 2_147_483_647
}

type Item = Record<string, unknown>
const fateless = ({ ErrorCode, ...item }: Item): Item => (ErrorCode === 0 ? item : { ErrorCode, ...item })
/** The possible fates of a call: a fault, or a change of its answer. */
const mishaps: (Fault | ((items: Item[], some: number) => Item[]))[] = [
  { cut: 'before' },
  { cut: 'after' },
  { cut: 'during' },
  { truncate: true },
  { html: true },
  { delayMs: 10 },
  { status: 429 },
  { status: 429, headers: { 'retry-after': '0.01' } },
  { status: 503, body: { ErrorCode: 100, Message: 'Maintenance' } },
  { status: 500, body: { ErrorCode: 500, Message: 'Oops' }, takesEffect: true },
  (items) => items.toReversed(),
  (items, some) => items.toSpliced(some, 1),
  (items) => items.map(fateless),
  (items, some) => items.with(some, { ...items[some], ErrorCode: {}, MessageID: null }),
  (items, some) => items.with(some, { ...items[some], To: 'someone@elsewhere.example' }),
]

const provider = createMailProvider({ apiTokens: ['token'] })
/** The ids of the accepted mails, by recipient. */
const ledger = new Map<string, string[]>()
let calls = 0

/** Answers a request, unless a mishap meets it. */
async function answer(request: Request): Promise<Response> {
  if (request.method === 'GET') return provider.fetch(request)
  // Each mishap once, and then at random.
  const mishap = mishaps[calls < mishaps.length ? calls : Math.floor((random() / TROUBLE) * mishaps.length)]
  calls += 1
  if (calls % OUTAGE_AFTER === 0) provider.faults.add({ times: OUTAGE_REQUESTS, html: true, status: 502 })
  if (typeof mishap === 'object') provider.faults.add({ ...mishap, path: '/email/batch' })
  try {
    const response = await provider.fetch(request)
    if (typeof mishap !== 'function' || !response.ok) return response
    const items: Item[] = await response.json()
    return Response.json(mishap(items, Math.floor(random() * items.length)))
  } finally {
    for (const { to, messageId } of provider.messages.splice(0))
      for (const address of to) ledger.set(address, [...(ledger.get(address) ?? []), messageId])
  }
}

const { url, close } = await serve(answer)
afterAll(close)
for (let index = 0; index < MAILS * 2; index += 100) provider.inactive.add(addressOf(index))

const mailer = () =>
  createMailer({
    apiToken: 'token',
    fromEmail: 'a@example.com',
    baseUrl: url,
    // The provider is back at once.
    wait: () => new Promise((resolve) => setTimeout(resolve, 5)),
  })

function* mails(count: number, start = 0) {
  for (let key = 0; key < count; key += 1) yield message({ to: addressOf(start + key), key })
}

/** Compares one result with the ledger. */
function check(recipient: string, { status, messageId }: MessageResult): void {
  const accepted = ledger.get(recipient) ?? []
  const isTrue = status === 'unknown' || accepted[0] === (messageId ?? undefined)
  if (!isTrue || accepted.length > 1)
    expect.fail(`${recipient} is ${status} ${messageId}, and the ledger has ${accepted}; seed ${SEED}`)
}

it(`agrees with the ledger of a rough provider on every one of ${MAILS} streamed mails`, async () => {
  const counts = { sent: 0, failed: 0, unknown: 0 }
  let next = 0
  // Each pause counts as long as it was meant to be.
  for await (const result of mailer().streamEmails(mails(MAILS), { outageMs: 600_000 })) {
    if (result.index !== next) expect.fail(`${result.index} instead of ${next}`)
    check(addressOf(next), result)
    counts[result.status] += 1
    next += 1
  }
  expect(next).toBe(MAILS)
  // A cut call loses its own messages only; of the first calls, most break.
  expect(counts.unknown).toBeLessThan(MAILS / 2)
  expect(counts.failed).toBeLessThan(MAILS / 50)
}, 0)

it('agrees with the ledger on a batch that is ended at random, and goes on by its journal', async () => {
  const records = new Map<string, MessageRecord>()
  const journal: BatchJournal = {
    read: () => records,
    write(written) {
      for (const [key, record] of written) {
        if (record) records.set(key, record)
        else records.delete(key)
      }
    },
  }
  let batch: BatchResult | undefined
  for (let attempt = 1; !batch; attempt += 1) {
    const deadline = attempt < 5 ? Date.now() + 20 + random() * 200 : undefined
    batch = await mailer()
      .sendEmails([...mails(BATCH, MAILS)], { journal, deadline })
      .catch((error: unknown) => {
        if (!isMailError(error) || !error.retryable) throw error
        return undefined
      })
  }
  for (const [index, result] of batch.results.entries()) check(addressOf(MAILS + index), result)
}, 0)
