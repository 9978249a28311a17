import { serve } from '@org/core/testing'
import { expect, onTestFinished, vi } from 'vitest'
import { runProvider } from '../../core/test/provider.ts'
import { createMailer, type MailerOptions, type Message, type MessageResult } from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'

export { failureOf } from '../../core/test/provider.ts'

/** After so many turns of the event loop, what a test waits for never comes. */
const MOST_TURNS = 20_000

/** Runs a mail provider for a test file. */
export function runMailProvider() {
  const provider = createMailProvider()
  const { wait, origin, ...run } = runProvider(provider, ({ pathname }) => pathname)
  const mailer = (options?: Partial<MailerOptions>) =>
    createMailer({
      apiToken: 'server-token',
      fromEmail: 'Shop <shop@example.com>',
      baseUrl: origin(),
      wait,
      ...options,
    })
  return {
    provider,
    ...run,
    /** The provider’s base URL. */
    get url() {
      return origin()
    },
    /** How many of the accepted mails went to somebody who had one. */
    sentTwice: () => provider.messages.length - new Set(provider.messages.flatMap(({ to }) => to)).size,
    mailer,
    /** A mailer that makes one call of a batch at a time. */
    serial: (options?: Partial<MailerOptions>) => mailer({ concurrency: 1, ...options }),
    /** A `fetch` that holds each call until the test answers it. */
    hold() {
      const held: ((response?: Response) => void)[] = []
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const { promise, resolve } = Promise.withResolvers<Response | undefined>()
        held.push(resolve)
        return (await promise) ?? provider.fetch(input, init)
      }
      async function wait(count: number): Promise<void> {
        for (let looks = 0; held.length < count && looks < MOST_TURNS; looks += 1) await idle()
        // For those that must not come.
        await idle()
      }
      return {
        fetch,
        /** Waits until so many calls are held, and no more. */
        async arrived(count: number): Promise<void> {
          await wait(count)
          expect(held).toHaveLength(count)
        },
        /** Answers as many calls, by default as the provider does. */
        async answer(count: number, toResponse: () => Response | undefined = () => undefined) {
          await wait(count)
          if (held.length < count) expect.fail(`${held.length} calls came instead of ${count}.`)
          for (const answer of held.splice(0, count)) answer(toResponse())
          await idle()
        },
      }
    },
  }
}

/** A valid message. */
export function message(fields: Partial<Message> = {}): Message {
  return Object.assign({ to: 'ann@example.org', subject: 'Hello', textBody: 'Hi Ann' }, fields)
}

export const addressOf = (index: number) => `a${index}@example.org`

/** Valid messages to different addresses, with a key each. */
export function messages(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => message({ to: addressOf(index), key: `row-${index}` }))
}

/** The end of a batch: the error that it throws, its results, and their statuses, run by run: `500 sent,1 unknown`. */
export async function endOf(batch: Promise<{ results: readonly MessageResult[] }>) {
  let results: readonly MessageResult[] = []
  let error: unknown
  try {
    results = (await batch).results
  } catch (reason) {
    error = reason
    results = Object(reason).results ?? []
  }
  const starts = [...results.keys()].filter((at) => results[at]?.status !== results[at - 1]?.status)
  const lengths = starts.map((start, at) => (starts[at + 1] ?? results.length) - start)
  const fates = starts.map((start, at) => `${lengths[at]} ${results[start]?.status}`)
  return { error, results, fates: fates.join(), last: results.at(-1)?.error }
}

/** A URL on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serve(async () => new Response())
  await server.close()
  return server.url
}

/** Lets everything happen that waits neither for the network nor for a clock. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Stops the clock for a test: it moves only by {@link pass}. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}
export const pass = (milliseconds: number) => void vi.setSystemTime(Date.now() + milliseconds)

/**
 * Resolves as the work does, by a clock of its own. The work must not use the network, whose client would keep the
 * fake timers.
 *
 * @param passing the milliseconds that pass in a turn of the event loop
 */
export async function inFakeTime<Result>(
  work: () => Promise<Result>,
  passing: () => number = () => 100,
): Promise<Result> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  try {
    let isOver = false
    const result = work().finally(() => {
      isOver = true
    })
    result.catch(() => {})
    for (let turn = 0; !isOver; turn += 1) {
      if (turn > MOST_TURNS) throw new Error('The work does not end.')
      await new Promise((resolve) => setImmediate(resolve))
      await vi.advanceTimersByTimeAsync(passing())
    }
    return await result
  } finally {
    vi.useRealTimers()
  }
}
