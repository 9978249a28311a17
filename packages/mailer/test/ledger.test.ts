import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BatchJournal, MessageRecord, MessageResult } from '../src/index.ts'
import { createMailer, isIntegrationError } from '../src/index.ts'
import { createRandom, runRoughProvider } from './rough-provider.ts'
import { addressOf, message } from './support.ts'

/** `pnpm --filter @org/mailer mails` sends a million. */
const MAILS = Number(process.env.MAILS ?? 30_000)
const SEED = Number(process.env.SEED ?? 254_878_655)
const BATCH = 10_000

let provider: Awaited<ReturnType<typeof runRoughProvider>>
beforeAll(async () => {
  provider = await runRoughProvider(createRandom(SEED))
})
afterAll(() => provider.close())

const mailer = () =>
  createMailer({
    apiToken: 'token',
    fromEmail: 'a@example.com',
    baseUrl: provider.url,
    // The rough provider breaks one call in ten, and is back at once.
    wait: () => new Promise((resolve) => setTimeout(resolve, 5)),
  })

/** Compares one result with the ledger. */
function check(recipient: string, { status, messageId }: MessageResult): void {
  const accepted = provider.ledger.get(recipient) ?? []
  const isTrue =
    accepted.length <= 1 &&
    (status === 'unknown' || (status === 'sent' ? accepted[0] === messageId : accepted.length === 0))
  if (!isTrue)
    expect.fail(`${recipient} is ${status} ${messageId}, and the ledger has ${accepted}; seed ${SEED}`)
}

const counts = { sent: 0, failed: 0, unknown: 0 }

it(`agrees with the ledger of a rough provider on every one of ${MAILS} streamed mails`, async () => {
  async function* source() {
    for (let index = 0; index < MAILS; index += 1) yield message({ to: addressOf(index) })
  }
  let next = 0
  // Each pause counts as long as it was meant to be.
  for await (const result of mailer().streamEmails(source(), { outageMs: 600_000 })) {
    if (result.index !== next) expect.fail(`${result.index} instead of ${next}`)
    check(addressOf(next), result)
    counts[result.status] += 1
    next += 1
    if (next % 100_000 === 0) process.stdout.write(`${next} mails: ${JSON.stringify(counts)}\n`)
  }
  expect(next).toBe(MAILS)
  expect(provider.happened.size).toBeGreaterThan(13)
  // A cut call loses its own messages only; of the first calls, most break.
  expect(counts.unknown).toBeLessThan(MAILS / 2)
}, 0)

it('agrees with the ledger on batches that are ended at random, and go on by their journal', async () => {
  const random = createRandom(SEED + 1)
  const records = new Map<string, MessageRecord>()
  const journal: BatchJournal = {
    read: (keys) =>
      new Map(
        keys
          .flatMap((key) => [[key, records.get(key)] as const])
          .flatMap(([key, record]) => (record ? [[key, record]] : [])),
      ),
    async write(written) {
      for (const [key, record] of written) {
        if (record) records.set(key, record)
        else records.delete(key)
      }
    },
  }
  for (let start = MAILS; start < MAILS * 1.2; start += BATCH) {
    const mails = Array.from({ length: BATCH }, (_, index) =>
      message({ to: addressOf(start + index), key: index }),
    )
    let results: readonly MessageResult[] | undefined
    for (let attempt = 1; !results; attempt += 1) {
      const limits = attempt < 5 ? { deadline: Date.now() + 20 + random() * 200 } : {}
      results = await mailer()
        .sendEmails(mails, { journal, ...limits })
        .then(
          (batch) => batch.results,
          (error: unknown) => {
            if (!isIntegrationError(error) || !error.retryable) throw error
            return undefined
          },
        )
    }
    for (const [index, result] of results.entries()) check(addressOf(start + index), result)
    records.clear()
  }
}, 0)
