/**
 * Cuts the messages of a batch into calls of the provider’s batch endpoint.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { writeAttachments } from './attachment.ts'
import { failedResult, inOrder, type PlacedMessage } from './batch.ts'
import { type ComposedMessage, composeMessage, isRich } from './compose.ts'
import { type Ending, orEnded } from './ending.ts'
import { isRecord } from './fields.ts'
import { keyOf, restore } from './journal.ts'
import { invalidMessage, toMailError } from './mail-error.ts'
import type { MessageSettings } from './message.ts'
import type { Records } from './records.ts'
import { renderMessage } from './render.ts'
import type { MessageResult } from './result.ts'
import type { Source } from './source.ts'
import { createTextWriter } from './writing.ts'

/** One call of the provider’s batch endpoint. */
export interface Call {
  messages: PlacedMessage[]
  /** The JSON of the body. */
  json: string
  /** The size of `json` in UTF-8, or an upper bound. */
  bytes: number
  /** The results of messages that are not sent: invalid, recorded by an earlier attempt, or too late. */
  settled: MessageResult[]
  /** Whether an earlier attempt recorded some of the messages. */
  isResumed: boolean
}

/** A message that was read: its place in the batch, and the JSON by which a journal knows it if it has no key. */
interface ReadEntry extends PlacedMessage {
  identity: string
  /** Whether an earlier message of the batch has the same key of its own. */
  isTwice: boolean
}

/** A message of a call that is not full yet, and its text on the wire. */
interface ComposedEntry extends ReadEntry {
  json: string
  bytes: number
}

/** The messages that are read for the next call. */
interface Draft {
  entries: ComposedEntry[]
  bytes: number
  refused: RefusedEntry[]
  settled: MessageResult[]
}

/** A message that cannot be sent, but that an earlier attempt may have sent. */
interface RefusedEntry extends ReadEntry {
  refusal: IntegrationError
}

type Entry = ComposedEntry | RefusedEntry | MessageResult

const MAX_MESSAGES = 500
/** After so many messages that are not sent, a call ends, so that their results are passed on. */
const MAX_SETTLED = 500
/** A call of a stream leaves when its first message is so old. */
const MAX_AGE_MS = 100
/** So many messages are composed at a time. Those of many bytes count for more, and those that are refused for 25. */
const MANY = 250
const BYTES_OF_ONE = 4_000
const REFUSED = 25
/** A message that is invalid. Its key may be known from an earlier attempt. */
const NO_MESSAGE: ComposedMessage = { json: '', bytes: 0, to: '', recipients: [], toCount: 0 }
/** For the key of a message, which must not change with the mailer’s defaults. */
const NO_SETTINGS: MessageSettings = { from: 'none@none.invalid' }

interface CutterOptions {
  source: Source
  /** Makes a message of an item; without it, the item is the message. Throws an `IntegrationError` if it cannot. */
  parse: ((item: unknown) => unknown) | undefined
  /** Whether a message that an earlier attempt did not send for sure is sent again. */
  resend: ((result: MessageResult) => boolean) | undefined
  settings: MessageSettings
  /** The largest body of a call of several messages, in bytes. */
  callBytes: number
  ending: Ending
  /** Lets other work go on between the messages. */
  breathe: () => Promise<void>
  records: Records | undefined
}

/** Makes the cutter of a batch. It reads no further than the next call needs. */
export function createCutter(options: CutterOptions) {
  const { source, parse, resend, settings, callBytes, ending, breathe, records } = options
  const writers = { writeBody: createTextWriter(), writeFiles: writeAttachments }
  /** How often each key came. */
  const seen = new Map<string, number>()
  let index = 0
  /** The next message, while it is read and composed. */
  let pending: Promise<Entry | undefined> | undefined
  let held: ComposedEntry | undefined
  let isOver = false
  let isUnread = false
  let thrown: { reason: unknown } | undefined
  /** The messages since the last breath. */
  let composed = 0

  function place(at: number, key: string, message: unknown): Entry {
    const from = (given: MessageSettings) => composeMessage(message, given, writers)
    // A key of its own is enough; the content’s key must not change with the mailer’s defaults.
    const identity = records && key === '' ? from(NO_SETTINGS) : undefined
    try {
      return entryOf(at, key, identity?.json ?? '', from(settings))
    } catch (error) {
      if (!identity) throw error
      return { ...entryOf(at, key, identity.json, identity), refusal: toMailError(error) }
    }
  }

  function compose(item: unknown): Entry | Promise<Entry> {
    const at = index
    index += 1
    let key = ''
    const fail = (error: unknown): Entry => {
      const refusal = toMailError(error)
      if (!records || key === '') return failedResult({ index: at, key, to: null }, refusal)
      return { ...entryOf(at, key, '', NO_MESSAGE), refusal }
    }
    try {
      const message = parse ? parse(item) : item
      key = readKey(message)
      if (!isRich(message)) return place(at, key, message)
      return orEnded(renderMessage(message), ending.signal)
        .then((message) => place(at, key, message))
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
  async function fill(draft: Draft): Promise<void> {
    const { entries, refused, settled } = draft
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupt = () => {}
    const onEnd = () => interrupt()
    ending.signal.addEventListener('abort', onEnd)
    try {
      while (entries.length < MAX_MESSAGES && settled.length + refused.length < MAX_SETTLED) {
        if (ending.reason) return await failRest(settled, ending.reason)
        if (composed >= MANY) {
          composed = 0
          await breathe()
        }
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
        composed += 'bytes' in next ? 1 + next.bytes / BYTES_OF_ONE : REFUSED
        if ('error' in next) settled.push(next)
        else if ('refusal' in next) refused.push(next)
        else if (entries.length > 0 && draft.bytes + next.bytes > callBytes) {
          held = next
          return
        } else add(draft, next)
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
  async function failRest(settled: MessageResult[], reason: IntegrationError): Promise<void> {
    isOver = true
    // A message that is being rendered has failed by now; a source that is stuck gives none.
    const next = await Promise.race([pending, breathe().then(() => undefined)])
    if (next && 'error' in next) settled.push(next)
    isUnread = !source.isList
    if (isUnread) return
    for (let next = source.read(); next !== undefined; next = source.read()) {
      settled.push(failedResult({ index, key: '', to: null }, reason))
      index += 1
    }
  }

  /** Takes the messages that an earlier attempt recorded out of a call. */
  async function withoutRecorded(draft: Draft, known: Records): Promise<Call> {
    const read: (ComposedEntry | RefusedEntry)[] = inOrder([...draft.entries, ...draft.refused])
    const rest = emptyDraft()
    const settled = [...draft.settled]
    for (const message of read) {
      const key = message.key || (await keyOf(message.identity))
      const count = (seen.get(key) ?? 0) + 1
      seen.set(key, count)
      message.isTwice = message.key !== '' && count > 1
      message.key = count === 1 || message.isTwice ? key : `${key}#${count}`
      message.identity = ''
    }
    const found = await known.read(read.filter(({ isTwice }) => !isTwice).map(({ key }) => key))
    for (const message of read) {
      const record = message.isTwice ? undefined : found.get(message.key)
      const restored = record && restore(record, message)
      if (restored && !(restored.status !== 'sent' && mayGoAgain(restored))) settled.push(restored)
      else if (message.isTwice) settled.push(failedResult(message, twice()))
      else if ('refusal' in message)
        settled.push(failedResult({ ...message, to: message.to || null }, message.refusal))
      else add(rest, message)
    }
    return { ...toCall(rest), isResumed: found.size > 0, settled: inOrder(settled) }
  }

  function mayGoAgain(result: MessageResult): boolean {
    try {
      const answer: unknown = resend?.(result) ?? false
      // A promise would be true whatever it says.
      if (typeof answer !== 'boolean')
        throw new TypeError('resend must return true or false, and no promise.')
      return answer
    } catch (reason) {
      thrown ??= { reason }
      isOver = true
      throw new IntegrationError('aborted', 'resend threw before this mail was sent.', { cause: reason })
    }
  }

  return {
    /**
     * The next call, with messages to send or results of messages that are not sent.
     *
     * @returns `undefined` at the end
     * @throws {IntegrationError} `overloaded` if the journal fails
     */
    async next(): Promise<Call | undefined> {
      const draft = emptyDraft()
      if (composed > 0) await breathe()
      composed = 0
      if (held) add(draft, held)
      held = undefined
      if (!isOver) await fill(draft)
      if (draft.entries.length + draft.settled.length + draft.refused.length === 0) return undefined
      return records ? withoutRecorded(draft, records) : toCall(draft)
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

// Not a spread, which takes as long as the check of a short message.
function entryOf(
  index: number,
  key: string,
  identity: string,
  { json, bytes, to, recipients, toCount }: ComposedMessage,
): ComposedEntry {
  return { index, key, identity, isTwice: false, to, recipients, toCount, json, bytes }
}

/** The key of a message; `composeMessage` names the fault of one that is no text. */
function readKey(message: unknown): string {
  const key = isRecord(message) ? message.key : undefined
  return typeof key === 'string' || typeof key === 'number' ? String(key) : ''
}

function twice(): IntegrationError {
  const errors = [{ path: 'key', message: 'is the key of an earlier message of this batch' }]
  return toMailError(invalidMessage(errors))
}

/** The brackets of the list, and a comma after each message. */
function emptyDraft(): Draft {
  return { entries: [], bytes: 2, refused: [], settled: [] }
}

function add(draft: Draft, message: ComposedEntry): void {
  draft.entries.push(message)
  draft.bytes += message.bytes + 1
}

function toCall({ entries, bytes, settled }: Draft): Call {
  const json = `[${entries.map((entry) => entry.json).join()}]`
  // Without their texts.
  const messages = entries.map(({ index, key, to, recipients, toCount }) => {
    return { index, key, to, recipients, toCount }
  })
  return { messages, json, bytes, settled, isResumed: false }
}
