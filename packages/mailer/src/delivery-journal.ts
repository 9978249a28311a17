/**
 * Keeps a batch’s journal in the record of its delivery: one step for each call, encrypted by core.
 *
 * @module
 */
import type { Progress } from '@org/core'
import * as z from 'zod'
import { type BatchJournal, isOutcome, type MessageRecord, type RecordedOutcome } from './journal.ts'

/** The messages of one call, by key: all begun, or their outcomes. */
const callRecord = z.union([
  z.object({ begun: z.array(z.string()) }),
  z.object({ done: z.array(z.tuple([z.string(), z.custom<RecordedOutcome>(isOutcome)])) }),
])

/** Makes the journal of a delivery. `isEmpty`: no earlier attempt sent anything. */
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
    const { data } = callRecord.safeParse(step)
    if (!data) isDamaged = true
    else if ('begun' in data) {
      if (!isSettled) for (const key of data.begun) records.set(key, 'begun')
    } else {
      for (const [key, outcome] of data.done)
        if (!isSettled || outcome.status !== 'unknown') records.set(key, outcome)
    }
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
      const step = record === 'begun' ? { begun: [...written.keys()] } : { done }
      await progress.write(name, record === undefined ? null : step)
    },
  }
}
