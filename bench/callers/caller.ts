/** One call, which throws where its answer is not what it should be. */
type Call = () => Promise<void>

/**
 * Makes a contender's client for a provider.
 *
 * Each loads what it needs when it is chosen, so that no process holds another contender's library.
 */
export type Connect = (url: string) => Promise<Call>

/** Throws where an answer lacks what was asked for. */
export function expectValue(value: unknown, expected: string): void {
  if (value !== expected) throw new Error(`The answer holds ${JSON.stringify(value)} and not “${expected}”.`)
}
