/**
 * Cuts the messages of a batch into calls of the provider’s batch endpoint.
 *
 * @module
 */
import type { IntegrationError } from '@org/core/errors'
import { breathe } from '@org/core/http'
import { readFiles } from './attachment.ts'
import { failedResult, inOrder, type PlacedMessage } from './batch.ts'
import { composeMessage, isRich } from './compose.ts'
import type { Ending } from './ending.ts'
import { readField, readText } from './fields.ts'
import { type Records, restore } from './journal.ts'
import { invalidMessage, toMailError } from './mail-error.ts'
import { renderMessage } from './render.ts'
import type { MessageResult } from './result.ts'
import type { BatchRun, Call } from './run.ts'

/**
 * A message that was read. `to` is as it was given until the message is composed: for the result of a message that was
 * sent before and would be refused now.
 */
interface Entry extends PlacedMessage {
  json: string
  bytes: number
  /** Why it can’t be sent. An earlier attempt may have sent it. */
  refusal?: IntegrationError
}

const MAX_MESSAGES = 500
/** A call of a stream leaves when its first message is so old. */
const MAX_AGE_MS = 100
/** Other work goes on after so many messages. */
const MANY = 100
/** The brackets of a list. */
const EMPTY_BYTES = 2

type CutterOptions = Pick<BatchRun, 'parse' | 'resend' | 'settings' | 'callBytes'> & {
  ending: Ending
  records: Records | undefined
  /** Is told what the source and `resend` throw. */
  fail: (reason: unknown) => void
}

/** Makes the cutter of a batch. It reads no further than the next call needs. */
export function createCutter(items: Iterable<unknown> | AsyncIterable<unknown>, options: CutterOptions) {
  const { parse, resend, settings, callBytes, ending, records, fail } = options
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const keys = new Set<string>()
  let index = 0
  /** How many messages are in calls. */
  let taken = 0
  /** The next message, while it is read and composed. */
  let pending: Promise<Entry | undefined> | undefined
  /** A message that did not fit into the call before. */
  let held: Entry | undefined
  let isOver = false
  let isUnread = false

  function compose(item: unknown): Entry | Promise<Entry> {
    const entry: Entry = { index, key: '', to: '', recipients: [], json: '', bytes: 0 }
    index += 1
    const place = (message: unknown) => Object.assign(entry, composeMessage(message, settings, readFiles))
    const refuse = (error: unknown) => Object.assign(entry, { refusal: toMailError(error) })
    try {
      const message = parse ? parse(item) : item
      const key = readField(message, 'key')
      // `composeMessage` names the fault of another one.
      if (typeof key === 'string' || typeof key === 'number') entry.key = String(key)
      entry.to = readText(message, 'to') ?? ''
      if (records) checkKey(entry)
      return isRich(message) ? renderMessage(message).then(place).catch(refuse) : place(message)
    } catch (error) {
      return refuse(error)
    }
  }

  /** A journal knows a message by its key. */
  function checkKey(entry: Entry): void {
    const { key } = entry
    const isTwin = key !== '' && keys.has(key)
    keys.add(key)
    // The record of the key is that of the earlier message.
    if (isTwin) entry.key = ''
    const fault = isTwin ? 'is the key of an earlier message of this batch' : 'is required with a journal'
    if (isTwin || key === '') throw invalidMessage([{ path: 'key', message: fault }])
  }

  /** @returns `undefined` at the end of the source */
  function read(): Entry | undefined | Promise<Entry | undefined> {
    const take = ({ done, value }: IteratorResult<unknown>) => (done ? undefined : compose(value))
    const step = source.next()
    // A promise of another realm or library becomes one that is recognised.
    return 'then' in step ? Promise.resolve(step).then(take) : take(step)
  }

  /** Reads the messages of a call until the call is full, the source pauses, or the batch is over. */
  async function fill(): Promise<Entry[]> {
    const entries: Entry[] = []
    let bytes = EMPTY_BYTES
    let timer: ReturnType<typeof setTimeout> | undefined
    let interrupt = () => {}
    const onEnd = () => interrupt()
    ending.signal.addEventListener('abort', onEnd)
    try {
      while (entries.length < MAX_MESSAGES && (held || !ending.reason)) {
        if (entries.length % MANY === 0 && index > 0) await breathe()
        const reading = held ?? pending ?? read()
        held = undefined
        if (reading instanceof Promise) {
          pending = reading
          // Not Promise.race: a promise that lives as long as the batch would keep a reaction for each message.
          const isInTime = await new Promise((resolve, reject) => {
            interrupt = () => resolve(false)
            reading.then(() => resolve(true), reject)
          })
          if (!isInTime) break
          pending = undefined
        }
        const next = await reading
        isOver = next === undefined
        if (next === undefined) break
        if (entries.length > 0 && bytes + next.bytes > callBytes) {
          held = next
          break
        }
        entries.push(next)
        // With the comma after each message.
        bytes += next.bytes + 1
        timer ??= setTimeout(() => interrupt(), MAX_AGE_MS)
      }
    } catch (error) {
      fail(error)
    } finally {
      clearTimeout(timer)
      ending.signal.removeEventListener('abort', onEnd)
    }
    taken += entries.length
    return entries
  }

  /** The rest of a list fails at once when the batch has ended, and the rest of another source is not read. */
  function failRest(reason: IntegrationError): MessageResult[] {
    const rest: MessageResult[] = []
    isOver = true
    isUnread ||= !Array.isArray(items)
    if (Array.isArray(items))
      for (let at = taken; at < items.length; at += 1)
        rest.push(failedResult({ index: at, key: '', to: null }, reason))
    return rest
  }

  /** Whether a message with a record is sent again. After the end of the batch, nobody is asked. */
  async function isResent(result: MessageResult): Promise<boolean> {
    if (!resend || result.status === 'sent' || ending.reason) return false
    return Boolean(await ending.run(() => resend(result)).catch(fail))
  }

  /** Takes the messages out that are refused, or that an earlier attempt recorded. */
  async function toCall(entries: readonly Entry[]): Promise<Call> {
    const known = entries.flatMap(({ key }) => (key === '' ? [] : [key]))
    // A journal that fails has ended the batch, so that no message of the call leaves.
    const found = await records?.read(known).catch(() => undefined)
    if (records && !found) isUnread = true
    const call: Call = { messages: [], json: '', bytes: EMPTY_BYTES, settled: [] }
    const texts: string[] = []
    for (const { refusal, json, bytes, ...message } of entries) {
      const record = found?.get(message.key)
      const restored = record && restore(record, message)
      if (restored && !(await isResent(restored))) call.settled.push(restored)
      else if (refusal) call.settled.push(failedResult({ ...message, to: null }, refusal))
      else {
        call.messages.push(message)
        call.bytes += bytes + 1
        texts.push(json)
      }
    }
    call.json = `[${texts.join()}]`
    return call
  }

  return {
    /**
     * The next call, with messages to send or results of messages that are not sent.
     *
     * @returns `undefined` at the end
     */
    async next(): Promise<Call | undefined> {
      const entries = isOver ? [] : await fill()
      const rest = ending.reason && !isOver ? failRest(ending.reason) : []
      if (entries.length + rest.length === 0) return undefined
      const call = await toCall(entries)
      call.settled = inOrder([...call.settled, ...rest])
      return call
    },
    /** Tells the source that no more messages are read. */
    close(): void {
      isOver = true
      // Not awaited: a source that is stuck may never return. What it throws now changes nothing.
      const closed = Promise.resolve().then(() => source.return?.())
      closed.catch(() => {})
    },
    /** Whether messages, or their records, were not read. */
    get isUnread() {
      return isUnread
    },
  }
}
