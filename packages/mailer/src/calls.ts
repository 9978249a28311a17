/**
 * Cuts the messages of a batch into calls of the provider’s batch endpoint.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { timeSliced } from '@org/core/http'
import { failedResult, inOrder, type PlacedMessage } from './batch.ts'
import { type ComposedMessage, composeMessage } from './compose.ts'
import { type Ending, orEnded } from './ending.ts'
import { fingerprint } from './fingerprint.ts'
import { restore } from './journal.ts'
import { toMailError } from './mail-error.ts'
import type { MessageDefaults } from './message.ts'
import type { Records } from './records.ts'
import { renderMessage } from './render.ts'
import type { MessageResult } from './result.ts'
import type { Source } from './source.ts'
import { createLongTexts } from './writing.ts'

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
interface ComposedEntry extends PlacedMessage {
  parts: ComposedMessage['parts']
  bytes: number
}

/** A message that cannot be sent, but that an earlier attempt may have sent. */
interface RefusedEntry extends PlacedMessage {
  refusal: IntegrationError
}

type Entry = ComposedEntry | RefusedEntry | MessageResult

const MAX_MESSAGES = 500
/** After so many messages that are not sent, a call ends, so that their results are passed on. */
const MAX_SETTLED = 500
/** A call of a stream leaves when its first message is so old. */
const MAX_AGE_MS = 100
/** For the key of a message, which must not change with the mailer’s defaults. */
const NO_DEFAULTS: MessageDefaults = { fromEmail: 'none@none.invalid' }

interface CutterOptions {
  source: Source
  /** Makes a message of an item; without it, the item is the message. Throws an `IntegrationError` if it cannot. */
  parse: ((item: unknown) => unknown) | undefined
  defaults: MessageDefaults
  /** The largest body of a call of several messages, in bytes. */
  callBytes: number
  ending: Ending
  records: Records | undefined
}

/** Makes the cutter of a batch. It reads no further than the next call needs. */
export function createCutter({ source, parse, defaults, callBytes, ending, records }: CutterOptions) {
  const texts = createLongTexts()
  const seen = new Map<string, number>()
  let index = 0
  /** The next message, while it is read and composed. */
  let pending: Promise<Entry | undefined> | undefined
  let held: ComposedEntry | undefined
  let isOver = false
  let isUnread = false
  let thrown: { reason: unknown } | undefined
  const yieldToLoop = timeSliced()

  /** The key of a message: its fingerprint, and a number if the same message came before. */
  function keyOf({ parts }: ComposedMessage): string {
    const print = fingerprint(parts, texts.printOf)
    const count = (seen.get(print) ?? 0) + 1
    seen.set(print, count)
    return count === 1 ? print : `${print}#${count}`
  }

  function place(at: number, message: unknown): Entry {
    if (!records) return { index: at, key: '', ...composeMessage(message, defaults, texts.encode) }
    const identity = composeMessage(message, NO_DEFAULTS, texts.encode)
    const key = keyOf(identity)
    try {
      return { index: at, key, ...composeMessage(message, defaults, texts.encode) }
    } catch (error) {
      return { ...identity, index: at, key, refusal: toMailError(error) }
    }
  }

  function compose(item: unknown): Entry | Promise<Entry> {
    const at = index
    index += 1
    const fail = (error: unknown) => failedResult(at, null, toMailError(error))
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

  /** @returns `undefined` at the end of the source */
  function read(): Entry | undefined | Promise<Entry | undefined> {
    const reading = source.read()
    if (!(reading instanceof Promise)) return reading && compose(reading.item)
    return reading.then((next) => next && compose(next.item))
  }

  /** Reads into a call until the call is full, the source pauses, or the batch is over. */
  async function fill(call: Call, refused: RefusedEntry[]): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupt = () => {}
    const onEnd = () => interrupt()
    ending.signal.addEventListener('abort', onEnd)
    try {
      while (call.messages.length < MAX_MESSAGES && call.settled.length + refused.length < MAX_SETTLED) {
        if (ending.reason) return await failRest(call, ending.reason)
        const turn = yieldToLoop()
        if (turn) await turn
        const reading = pending ?? read()
        let next: Entry | undefined | 'interrupted'
        if (reading instanceof Promise) {
          pending = reading
          // Not Promise.race: a promise that lives as long as the batch would keep a reaction for each message.
          next = await new Promise((resolve, reject) => {
            interrupt = () => resolve('interrupted')
            reading.then(resolve, reject)
          })
          if (next === 'interrupted') {
            if (ending.reason) continue
            return
          }
          pending = undefined
        } else next = reading
        if (next === undefined) {
          isOver = true
          return
        }
        if ('error' in next) call.settled.push(next)
        else if ('refusal' in next) refused.push(next)
        else if (call.messages.length > 0 && call.bytes + next.bytes > callBytes) {
          held = next
          return
        } else add(call, next)
        timer ??= setTimeout(() => interrupt(), MAX_AGE_MS)
      }
    } catch (reason) {
      thrown = { reason }
      isOver = true
    } finally {
      clearTimeout(timer)
      ending.signal.removeEventListener('abort', onEnd)
    }
  }

  /** The batch has ended: the rest of a list fails at once, and the rest of another source is not read. */
  async function failRest(call: Call, reason: IntegrationError): Promise<void> {
    isOver = true
    // A message that is being rendered has failed by now; a source that is stuck gives none.
    const next = await Promise.race([pending, new Promise<undefined>((resolve) => setTimeout(resolve))])
    if (next && 'error' in next) call.settled.push(next)
    isUnread = !source.isList
    if (isUnread) return
    for (let next = source.read(); next !== undefined; next = source.read()) {
      call.settled.push(failedResult(index, null, reason))
      index += 1
    }
  }

  /** Takes the messages that an earlier attempt recorded out of a call. */
  async function withoutRecorded(call: Call, refused: RefusedEntry[], known: Records): Promise<Call> {
    const found = await known.read([...call.messages, ...refused].map(({ key }) => key))
    const rest = emptyCall()
    const settled = [...call.settled]
    for (const message of [...call.messages, ...refused]) {
      const record = found.get(message.key)
      if (record) settled.push(restore(record, message))
      else if ('refusal' in message) settled.push(failedResult(message.index, message.to, message.refusal))
      else add(rest, message)
    }
    return { ...rest, isResumed: found.size > 0, settled: inOrder(settled) }
  }

  return {
    /**
     * The next call, with messages to send or results of messages that are not sent.
     *
     * @returns `undefined` at the end
     * @throws {IntegrationError} `overloaded` if the journal fails
     */
    async next(): Promise<Call | undefined> {
      const call = emptyCall()
      const refused: RefusedEntry[] = []
      if (held) add(call, held)
      held = undefined
      if (!isOver) await fill(call, refused)
      if (call.messages.length + call.settled.length + refused.length === 0) return undefined
      return records ? withoutRecorded(call, refused, records) : call
    },
    /** Whether the batch ended before the source did. */
    get isUnread() {
      return isUnread
    },
    /** The error of the source, if it threw. */
    get thrown() {
      return thrown
    },
  }
}

/** The brackets of the list, and a comma after each message. */
function emptyCall(): Call {
  return { messages: [], bytes: 2, settled: [], isResumed: false }
}

function add(call: Call, message: ComposedEntry): void {
  call.messages.push(message)
  call.bytes += message.bytes + 1
}
