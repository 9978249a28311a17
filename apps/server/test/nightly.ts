/** Whether the cases run, too, whose faults quicker cases notice: `npm run nightly`. */
export const isNightly = process.env.NIGHTLY !== undefined

/** Says that some cases do not run now. */
export function tellNightly(cases: string): void {
  if (!isNightly) process.stderr.write(`SKIPPED: ${cases}. They run nightly.\n`)
}
