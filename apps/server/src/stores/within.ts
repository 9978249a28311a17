/**
 * Waits for work no longer than a limit. The work itself goes on.
 *
 * @param limitMs in milliseconds
 * @throws {Error} with the message if the work takes longer, or its own error
 */
export async function within<T>(limitMs: number, work: Promise<T>, message: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(message)
    timer = setTimeout(() => reject(error), limitMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
