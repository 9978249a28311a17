import { type ErrorCode, errorCodes } from './errors.ts'

type ProblemCode = Exclude<ErrorCode, 'aborted'>

/** The codes that a webhook answers with. Clients may throw `aborted`, too. */
export const codes = Object.keys(errorCodes).filter(
  (code): code is ProblemCode => code in errorCodes && code !== 'aborted',
)

/** The title of a problem: its code in words. */
export function titleOf(code: ProblemCode): string {
  return `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ').replace('json', 'JSON')}`
}
