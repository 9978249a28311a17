/**
 * Cuts the messages of a batch into calls of the provider’s batch endpoint.
 *
 * @module
 */
import { failedResult, inOrder, type PlacedMessage } from './batch.ts'
import { type ComposedMessage, composeMessage } from './compose.ts'
import type { Ending } from './ending.ts'
import { fingerprint } from './fingerprint.ts'
import { type BatchJournal, restore } from './journal.ts'
import { toMailError } from './mail-error.ts'
import type { MessageDefaults } from './message.ts'
import { renderMessage } from './render.ts'
import type { MessageResult } from './result.ts'
import type { Source } from './source.ts'

/** One call of the provider’s batch endpoint. */
export interface Call {
  messages: ComposedEntry[]
  /** The size of the body, in bytes. */
  bytes: number
  /** The results of messages that are not sent: invalid, recorded by an earlier attempt, or too late. */
  settled: MessageResult[]
  /** Whether an earlier attempt recorded some of the messages. */
  isResumed: boolean
}

/** A message of a call: its place in the batch, and its text on the wire. */
export interface ComposedEntry extends PlacedMessage {
  parts: ComposedMessage['parts']
  bytes: number
}

/** The largest body of a call, in bytes. */
export const MAX_CALL_BYTES = 50_000_000
const MAX_MESSAGES = 500
/** After so many messages that are not sent, a call ends, so that their results are passed on. */
const MAX_SETTLED = 500
/** A call of a stream leaves when its first message is so old. */
const MAX_AGE_MS = 100
/** Other work gets its turn after so much time. */
const SLICE_MS = 10

interface CutterOptions {
  source: Source
  /** Makes a message of an item; without it, the item is the message. Throws an `IntegrationError` if it cannot. */
  parse: ((item: unknown) => unknown) | undefined
  defaults: MessageDefaults
  ending: Ending
  journal: BatchJournal | undefined
}

/** Makes the cutter of a batch. It reads no further than the next call needs. */
export function createCutter({ source, parse, defaults, ending, journal }: CutterOptions) {
  const seen = new Map<string, number>()
  let index = 0
  let held: ComposedEntry | undefined
  let isOver = false
  let thrown: { reason: unknown } | undefined
  let sliceStart = performance.now()

  /** The key of a message: its fingerprint, and a number if the same message came before. */
  function keyOf(message: unknown): string {
    if (!journal) return ''
    const print = fingerprint(message)
    const count = (seen.get(print) ?? 0) + 1
    seen.set(print, count)
    return count === 1 ? print : `${print}#${count}`
  }

  function place(at: number, message: unknown): ComposedEntry {
    const { parts, bytes, to, recipients, toCount } = composeMessage(message, defaults)
    return { index: at, key: keyOf(message), to, recipients, toCount, parts, bytes }
  }

  function compose(item: unknown): Composed | Promise<Composed> {
    const at = index
    index += 1
    const fail = (error: unknown) => failedResult(at, null, toMailError(error))
    if (ending.reason) return fail(ending.reason)
    try {
      const rendered = renderMessage(parse ? parse(item) : item)
      if (!(rendered instanceof Promise)) return place(at, rendered)
      return orEnded(rendered, ending.signal)
        .then((message) => place(at, message))
        .catch(fail)
    } catch (error) {
      return fail(error)
    }
  }

  /** Reads into a call until the call is full, the source pauses, or the batch is over. */
  async function fill(call: Call): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      while (call.messages.length < MAX_MESSAGES && call.settled.length < MAX_SETTLED) {
        if (ending.reason && !source.isList) isOver = true
        if (isOver) return
        if (performance.now() - sliceStart > SLICE_MS) {
          await new Promise((resolve) => setTimeout(resolve))
          sliceStart = performance.now()
        }
        const reading = source.read()
        const step = reading instanceof Promise ? await reading : reading
        if (step === 'done') isOver = true
        else if (step !== 'interrupted') {
          const composing = compose(step.item)
          const next = composing instanceof Promise ? await composing : composing
          if ('error' in next) call.settled.push(next)
          else if (call.messages.length > 0 && call.bytes + next.bytes > MAX_CALL_BYTES) {
            held = next
            return
          } else add(call, next)
          timer ??= setTimeout(() => source.interrupt(), MAX_AGE_MS)
        } else if (timer) return
      }
    } catch (reason) {
      thrown = { reason }
      isOver = true
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    /**
     * The next call, with messages to send or results of messages that are not sent.
     *
     * @returns `undefined` at the end
     * @throws what the journal throws
     */
    async next(): Promise<Call | undefined> {
      const call = emptyCall()
      if (held) add(call, held)
      held = undefined
      await fill(call)
      if (call.messages.length + call.settled.length === 0) return undefined
      return journal ? withoutRecorded(call, journal) : call
    },
    /** Whether the batch ended before the source did. */
    get isUnread(): boolean {
      return ending.reason !== undefined && !source.isList
    },
    /** What the source threw. */
    get thrown() {
      return thrown
    },
  }
}

type Composed = ComposedEntry | MessageResult

/** Takes the messages that an earlier attempt recorded out of a call. */
async function withoutRecorded(call: Call, journal: BatchJournal): Promise<Call> {
  const records = await journal.read(call.messages.map(({ key }) => key))
  if (records.size === 0) return call
  const rest = emptyCall()
  const restored = call.messages.flatMap((message) => {
    const record = records.get(message.key)
    if (record) return restore(record, message)
    add(rest, message)
    return []
  })
  return { ...rest, isResumed: true, settled: inOrder([...call.settled, ...restored]) }
}

/** The brackets of the list, and a comma after each message. */
function emptyCall(): Call {
  return { messages: [], bytes: 2, settled: [], isResumed: false }
}

function add(call: Call, message: ComposedEntry): void {
  call.messages.push(message)
  call.bytes += message.bytes + 1
}

/** Waits for work of the caller, but not after the batch has ended. */
function orEnded<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
