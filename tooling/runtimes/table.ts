/** The table of cases and runtimes. */
import { type Case, cases } from './cases.ts'
import { startProvider } from './provider.ts'

/**
 * Runs all cases on all runtimes, and prints the table and the reason of each failure.
 *
 * @param run gets the cases as JSON, and returns their outcomes by name as JSON
 * @returns whether every cell is ok
 */
export async function printTable(
  runtimes: readonly string[],
  run: (runtime: string, cases: string) => Promise<string>,
): Promise<boolean> {
  const columns = await Promise.all(runtimes.map((runtime) => judgeAll(runtime, run)))
  const rows = cases.map(({ name }, at) => [name, ...columns.map((faults) => (faults[at] ? 'FAILED' : 'ok'))])
  for (const [name = '', ...cells] of [['Case', ...runtimes], ...rows])
    console.log(`${name.padEnd(44)}${cells.map((cell) => cell.padEnd(9)).join('')}`)
  const faults = columns.flat().flatMap((fault) => fault ?? [])
  for (const fault of faults) console.log(fault)
  return faults.length === 0
}

/** @returns the fault of each case, if it has one */
async function judgeAll(runtime: string, run: (runtime: string, cases: string) => Promise<string>) {
  const providers = await Promise.all(cases.map(startProvider))
  try {
    // JSON leaves out what the provider does.
    const tasks = cases.map((row, at) => ({ ...row, url: providers[at]?.url }))
    const outcomes = JSON.parse(await run(runtime, JSON.stringify(tasks)))
    return cases.map((row, at) => {
      const fault = judge(row, runtime, outcomes[row.name] ?? [], providers[at]?.accepted.length ?? 0)
      return fault && `${runtime}: ${row.name}: ${fault}`
    })
  } finally {
    for (const provider of providers) provider.close()
  }
}

/** Compares the outcomes with those that are right, and the provider's count with both. */
function judge(row: Case, runtime: string, outcomes: string[], accepted: number): string | undefined {
  if (row.outcomes === 'by chance') return judgeByChance(outcomes, row.times ?? 1, accepted)
  const right = typeof row.outcomes === 'function' ? row.outcomes(runtime) : row.outcomes
  const known = right.filter((outcome) => outcome === 'sent' || outcome.endsWith(' unknown')).length
  const expected = `${right.join(', ')}; ${row.accepted ?? known} accepted`
  // A runtime may tell by chance what it mostly leaves open: that a call did not arrive.
  const isCertain = accepted === 0 && outcomes.every((outcome) => outcome.startsWith('provider_error none'))
  if (isCertain && row.accepted === 0) return undefined
  const found = `${outcomes.join(', ')}; ${accepted} accepted`
  return found === expected ? undefined : `expected ${expected}; found ${found}`
}

function judgeByChance(outcomes: string[], calls: number, accepted: number): string | undefined {
  const sent = outcomes.filter((outcome) => outcome === 'sent').length
  const unknown = outcomes.filter((outcome) => outcome === 'outcome_unknown unknown').length
  // After an unknown outcome, the gate holds the next ones back.
  const held =
    unknown > 0 ? outcomes.filter((outcome) => outcome.startsWith('provider_error none')).length : 0
  const agrees = sent + unknown + held === calls && sent <= accepted && accepted <= sent + unknown
  return agrees ? undefined : `found ${outcomes.join(', ')}; ${accepted} accepted`
}
