/** Describes events in a few words, whatever the integration. */
import { at, isRecord, listOf } from './json.ts'
import { SECRET_FIELD } from './mask.ts'
import { plural, showTurns } from './text.ts'

const MOST_FACTS = 3
const LONGEST_FACT = 60

/** The facts of an event and of its response, for example `ada@example.com · Your order`. */
export function summarize(event: unknown, response: unknown): string {
  const call = at(event, 'functionCall')
  const state = String(at(response, 'status'))
  const facts = [
    ...factsOf(call === undefined ? at(event, 'deployment', 'inputs') : at(call, 'arguments')),
    at(event, 'challenge'),
    ['unhealthy', 'ignored'].includes(state) ? state : '',
    amountOf(at(response, 'metrics'), 'metric'),
  ]
  return showTurns(facts.filter(Boolean).slice(0, MOST_FACTS).join(' · '))
}

function factsOf(values: unknown): string[] {
  return Object.entries(isRecord(values) ? values : {}).flatMap(([name, value]) =>
    SECRET_FIELD.test(name) || name === 'object' ? [] : (factOf(name, value) ?? []),
  )
}

/** Several lines and markup say little in one; of an object, the names do. */
function factOf(name: string, value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return `${name} ${value}`
  if (typeof value === 'string') {
    if (value.includes('\n') || value.startsWith('<')) return undefined
    return value.length <= LONGEST_FACT ? value : `${value.slice(0, LONGEST_FACT)}…`
  }
  const items = isRecord(value) ? Object.keys(value) : listOf(value)
  const [first] = items
  if (typeof first === 'string') {
    const others = items.length - 1
    return others > 0 ? `${first} and ${others} more` : first
  }
  return amountOf(value, name.replace(/s$/, ''))
}

function amountOf(value: unknown, one: string): string | undefined {
  const { length } = listOf(value)
  return length > 0 ? plural(length, one) : undefined
}
