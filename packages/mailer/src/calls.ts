/**
 * Cuts the messages of a batch into calls of the provider’s batch endpoint.
 *
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { writeAttachments } from './attachment.ts'
import { failedResult, inOrder } from './batch.ts'
import { type ComposedMessage, composeMessage, isRich } from './compose.ts'
import { type Ending, orEnded } from './ending.ts'
import { readField } from './fields.ts'
import { keyOf, type Records, restore } from './journal.ts'
import { invalidMessage, toMailError } from './mail-error.ts'
import type { MessageSettings } from './message.ts'
import { renderMessage } from './render.ts'
import type { MessageResult } from './result.ts'
import type { BatchRunOptions, Call } from './run.ts'
import { createTextWriter } from './writing.ts'

/** A message that was read. */
interface Entry {
  index: number
  /** Its own key; later the one by which the journal knows it. */
  key: string
  /** With a journal, the JSON by which a message without a key is known: without the settings of its mailer. */
  identity?: string
  composed?: ComposedMessage
  /** Why it can’t be sent. An earlier attempt may have sent it. */
  refusal?: IntegrationError
}

/** The messages that are read for the next call. */
interface Draft {
  entries: Entry[]
  bytes: number
  /** The results of messages that are not read any more, because the batch has ended. */
  unread: MessageResult[]
}

const MAX_MESSAGES = 500
/** A call of a stream leaves when its first message is so old. */
const MAX_AGE_MS = 100
/** So many messages are composed at a time. Those of many bytes count for more, and those that are refused for 25. */
const MANY = 250
const BYTES_OF_ONE = 4_000
const REFUSED = 25
/** The brackets of a list. */
const EMPTY_BYTES = 2
/** For the identity of a message, which must not change with the settings of its mailer. */
const NO_SETTINGS: MessageSettings = { from: 'none@none.invalid' }

type CutterOptions = Pick<BatchRunOptions, 'parse' | 'resend' | 'settings' | 'callBytes' | 'breathe'> & {
  ending: Ending
  records: Records | undefined
}

/** Makes the cutter of a batch. It reads no further than the next call needs. */
export function createCutter(items: Iterable<unknown> | AsyncIterable<unknown>, options: CutterOptions) {
  const { parse, resend, settings, callBytes, ending, breathe, records } = options
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const writers = { writeBody: createTextWriter(), writeFiles: writeAttachments }
  /** How often each key came. */
  const seen = new Map<string, number>()
  let index = 0
  /** The next message, while it is read and composed. */
  let pending: Promise<Entry | undefined> | undefined
  /** A message that did not fit into the call before. */
  let held: Entry | undefined
  let isRead = false
  let isOver = false
  let isUnread = false
  let thrown: { reason: unknown } | undefined
  /** The messages since the last breath. */
  let composed = 0

  function compose(item: unknown): Entry | Promise<Entry> {
    const entry: Entry = { index, key: '' }
    index += 1
    const fail = (error: unknown) => Object.assign(entry, { refusal: toMailError(error) })
    try {
      const message = parse ? parse(item) : item
      const key = readField(message, 'key')
      // `composeMessage` names the fault of another one.
      if (typeof key === 'string' || typeof key === 'number') entry.key = String(key)
      if (!isRich(message)) return place(entry, message)
      return orEnded(renderMessage(message), ending.signal)
        .then((rendered) => place(entry, rendered))
        .catch(fail)
    } catch (error) {
      return fail(error)
    }
  }

  function place(entry: Entry, message: unknown): Entry {
    if (records && entry.key === '') {
      entry.composed = composeMessage(message, NO_SETTINGS, writers)
      entry.identity = entry.composed.json
    }
    entry.composed = composeMessage(message, settings, writers)
    return entry
  }

  /** @returns `undefined` at the end of the source */
  function read(): Entry | undefined | Promise<Entry | undefined> {
    const take = ({ done, value }: IteratorResult<unknown>) => {
      isRead ||= done === true
      return done ? undefined : compose(value)
    }
    const step = source.next()
    // A promise of another realm or library becomes one that is recognised.
    return 'then' in step ? Promise.resolve(step).then(take) : take(step)
  }

  /** Reads into a call until the call is full, the source pauses, or the batch is over. */
  async function fill(draft: Draft): Promise<void> {
    const { entries } = draft
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupt = () => {}
    const onEnd = () => interrupt()
    ending.signal.addEventListener('abort', onEnd)
    try {
      while (entries.length < MAX_MESSAGES) {
        if (ending.reason) return await failRest(draft, ending.reason)
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
        const bytes = bytesOf(next)
        composed += next.refusal ? REFUSED : 1 + bytes / BYTES_OF_ONE
        if (entries.length > 0 && draft.bytes + bytes > callBytes) {
          held = next
          return
        }
        add(draft, next)
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
  async function failRest(draft: Draft, reason: IntegrationError): Promise<void> {
    isOver = true
    // A message that is being rendered has failed by now; a source that is stuck gives none.
    const next = await Promise.race([pending, breathe().then(() => undefined)])
    if (next) add(draft, next)
    isUnread = !Array.isArray(items)
    if (!Array.isArray(items)) return
    for (; index < items.length; index += 1)
      draft.unread.push(failedResult({ index, key: '', to: null }, reason))
  }

  /** Gives each message the key by which the journal knows it. */
  async function identify(entry: Entry): Promise<void> {
    const isOwn = entry.key !== ''
    if (!isOwn && entry.identity === undefined) return
    const key = isOwn ? entry.key : await keyOf(entry.identity ?? '')
    delete entry.identity
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (isOwn && count > 1) {
      const errors = [{ path: 'key', message: 'is the key of an earlier message of this batch' }]
      entry.refusal = invalidMessage(errors)
    } else entry.key = count === 1 ? key : `${key}#${count}`
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

  /** Takes the messages out that are refused, or that an earlier attempt recorded. */
  async function toCall({ entries, unread }: Draft): Promise<Call> {
    const places = new Map<string, number>()
    if (records) {
      for (const entry of entries) await identify(entry)
      for (const { key, index } of entries) if (key !== '' && !places.has(key)) places.set(key, index)
    }
    const found = await records?.read([...places.keys()])
    const call: Call = { messages: [], json: '', bytes: EMPTY_BYTES, settled: [], isResumed: false }
    const texts: string[] = []
    for (const { index, key, composed: parts, refusal } of entries) {
      const { json = '', bytes = 0, to = '', recipients = [] } = parts ?? {}
      const message = { index, key, to, recipients }
      const record = places.get(key) === index ? found?.get(key) : undefined
      if (record) call.isResumed = true
      const restored = record && restore(record, message)
      if (restored && (restored.status === 'sent' || !mayGoAgain(restored))) call.settled.push(restored)
      else if (refusal) call.settled.push(failedResult({ ...message, to: to || null }, refusal))
      else {
        call.messages.push(message)
        call.bytes += bytes + 1
        texts.push(json)
      }
    }
    call.json = `[${texts.join()}]`
    call.settled = inOrder([...call.settled, ...unread])
    return call
  }

  return {
    /**
     * The next call, with messages to send or results of messages that are not sent.
     *
     * @returns `undefined` at the end
     * @throws {IntegrationError} `overloaded` if the journal fails
     */
    async next(): Promise<Call | undefined> {
      const draft: Draft = { entries: [], bytes: EMPTY_BYTES, unread: [] }
      if (composed > 0) await breathe()
      composed = 0
      if (held) add(draft, held)
      held = undefined
      if (!isOver) await fill(draft)
      return draft.entries.length + draft.unread.length === 0 ? undefined : toCall(draft)
    },
    /** Tells the source that no more messages are read. */
    close(): void {
      if (isRead) return
      // Not awaited: a source that is stuck may never return. What it throws now changes nothing.
      const closed = Promise.resolve().then(() => source.return?.())
      closed.catch(() => {})
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

/** With the comma after each message. A message that is refused has none. */
function bytesOf({ composed, refusal }: Entry): number {
  return composed && !refusal ? composed.bytes + 1 : 0
}

function add(draft: Draft, entry: Entry): void {
  draft.entries.push(entry)
  draft.bytes += bytesOf(entry)
}
