/** Describes events in a few words, whatever the integration. */
import { at, isRecord, listOf } from './json.ts'
import { SECRET_FIELD } from './mask.ts'
import { plural, showTurns, truncate } from './text.ts'

const MOST_FACTS = 3
const LONGEST_FACT = 60

/** The facts of an event and of its response, for example `ada@example.com · Your order`. */
export function summarize(event: unknown, response: unknown): string {
  const call = at(event, 'functionCall')
  const values = call === undefined ? at(event, 'deployment', 'inputs') : at(call, 'arguments')
  const state = String(at(response, 'status'))
  const metrics = listOf(at(response, 'metrics'))
  const facts = [
    ...Object.entries(isRecord(values) ? values : {}).map(factOf),
    at(event, 'challenge'),
    ['unhealthy', 'ignored'].includes(state) && state,
    metrics.length > 0 && plural(metrics.length, 'metric'),
  ]
  return showTurns(facts.filter(Boolean).slice(0, MOST_FACTS).join(' · '))
}

/** Several lines and markup say little in one; of an object, the names do. */
function factOf([name, value]: [string, unknown]): string | undefined {
  if (SECRET_FIELD.test(name)) return undefined
  if (typeof value === 'string') return /\n|^</.test(value) ? undefined : truncate(value, LONGEST_FACT)
  if (typeof value !== 'object' || value === null) return `${name} ${value}`
  const [first, ...others] = isRecord(value) ? Object.keys(value) : listOf(value)
  if (typeof first !== 'string') return plural(listOf(value).length, name.replace(/s$/, ''))
  return others.length > 0 ? `${first} and ${others.length} more` : first
}
