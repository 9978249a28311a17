/**
 * Waits for work no longer than a limit. The work itself goes on.
 *
 * @param limitMs in milliseconds
 * @throws {Error} with the message if the work takes longer
 */
export async function within<T>(limitMs: number, work: Promise<T>, message: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(message)), limitMs)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
