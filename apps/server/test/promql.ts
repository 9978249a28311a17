/**
 * As much of Prometheus' query language as it takes to see which metrics and labels a query names.
 */

/** One metric of a query, and the conditions on its labels. */
interface Selector {
  metric: string
  /** The words that a label is compared with; of a regular expression, its alternatives. */
  conditions: { label: string; words: string[] }[]
}

/** What a query names. */
export interface Query {
  selectors: Selector[]
  /** Labels that are grouped by. */
  grouping: string[]
  functions: string[]
}

const KEYWORDS = ['and', 'or', 'unless', 'offset', 'bool']

export function readQuery(text: string): Query {
  const grouping: string[] = []
  const plain = text
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, labels: string) => {
      grouping.push(...labels.split(',').map((label) => label.trim()))
      return ''
    })
    .replaceAll(/\[[^\]]*\]/g, '')
  const selectors: Selector[] = []
  const functions: string[] = []
  for (const [, name = '', call, conditions = ''] of plain.matchAll(
    /(?<![\w.])([a-zA-Z_:][\w:]*)(\s*\()?(?:\{([^}]*)\})?/g,
  )) {
    if (KEYWORDS.includes(name)) continue
    if (call) functions.push(name)
    else selectors.push({ metric: name, conditions: readConditions(conditions) })
  }
  return { selectors, grouping, functions }
}

function readConditions(text: string): Selector['conditions'] {
  return [...text.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = '', words = '']) => ({
    label,
    words: words.startsWith('$') ? [] : words.split('|'),
  }))
}
