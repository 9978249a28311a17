/**
 * Data in a few words, for a person who reads along.
 *
 * @module
 */
import { isRecord } from './data.ts'
import { truncate } from './terminal.ts'

const LONGEST_TEXT = 120
const SHORT_LIST = 4

/** A value as one line: short ones whole, long lists as what they come to. */
export function brief(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncate(value, LONGEST_TEXT))
  if (Array.isArray(value)) {
    return value.length > SHORT_LIST ? `(${count(value.length)})` : `[${value.map(brief).join(', ')}]`
  }
  if (!isRecord(value)) return String(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  if (fields.length === 0) return '{}'
  return `{ ${fields.map(([name, field]) => briefField(name, field)).join(', ')} }`
}

function briefField(name: string, value: unknown): string {
  if (!Array.isArray(value) || value.length <= SHORT_LIST) return `${name}: ${brief(value)}`
  const tally = tallyOf(value)
  return `(${count(value.length)} ${name}${tally ? `: ${tally}` : ''})`
}

/** How often each `status` occurs in a list, for example `1,200 sent, 3 failed`. */
function tallyOf(items: readonly unknown[]): string {
  const tally = new Map<string, number>()
  for (const item of items) {
    if (!isRecord(item) || typeof item.status !== 'string') return ''
    tally.set(item.status, (tally.get(item.status) ?? 0) + 1)
  }
  return [...tally].map(([status, times]) => `${count(times)} ${status}`).join(', ')
}

/** A number with its thousands apart. */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}
