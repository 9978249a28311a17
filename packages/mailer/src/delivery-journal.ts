/**
 * Keeps a batch’s journal in the record of its delivery: one step for each call. Core encrypts the outcomes.
 *
 * @module
 */
import type { Progress } from '@org/core'
import * as z from 'zod'
import { type BatchJournal, isOutcome, type MessageRecord, type RecordedOutcome } from './journal.ts'

/** The step of a call that has begun. A text, so that operators see its state: core encrypts lists and objects. */
const begunStep = z.templateLiteral(['begun ', z.string()])
/** The outcomes of the messages of one call, by key. */
const doneStep = z.object({ done: z.array(z.tuple([z.string(), z.custom<RecordedOutcome>(isOutcome)])) })

/**
 * Makes the journal of a delivery, whose messages have their positions as keys. `isEmpty`: no earlier attempt sent
 * anything.
 */
export function createJournal(progress: Progress): BatchJournal & { isEmpty: boolean } {
  const nameOf = (call: number) => `call ${call}`
  const records = new Map<string, MessageRecord>()
  /** The step of each call of this delivery, by the key of its first message. */
  const steps = new Map<string, string>()
  let calls = 0
  let isDamaged = false
  for (let step = progress.read(nameOf(0)); step !== undefined; step = progress.read(nameOf(calls))) {
    // Then the messages without a record go again, and each has a later step.
    const isSettled = progress.isSettled(nameOf(calls))
    calls += 1
    if (step === null) continue
    const begun = begunStep.safeParse(step).data
    const { data } = doneStep.safeParse(step)
    if (begun !== undefined) {
      if (!isSettled) for (const key of begun.slice('begun '.length).split(',')) records.set(key, 'begun')
    } else if (data) {
      for (const [key, outcome] of data.done)
        if (!isSettled || outcome.status !== 'unknown') records.set(key, outcome)
    } else isDamaged = true
  }

  return {
    isEmpty: records.size === 0 && !isDamaged,
    read(keys) {
      const found = new Map<string, MessageRecord>()
      for (const key of keys) {
        // The messages of a record that is unreadable may have been sent, and nobody knows which ones they are.
        const record = records.get(key) ?? (isDamaged ? 'begun' : undefined)
        if (record) found.set(key, record)
      }
      return found
    },
    async write(written) {
      const [[first, record] = ['', undefined]] = written
      const name = steps.get(first) ?? nameOf(calls)
      if (!steps.has(first)) calls += 1
      steps.set(first, name)
      const done = [...written].flatMap(([key, each]) => (each ? [[key, each]] : []))
      const step = record === 'begun' ? `begun ${[...written.keys()].join()}` : { done }
      await progress.write(name, record === undefined ? null : step)
    },
  }
}
