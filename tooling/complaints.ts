import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Runs a command that checks something.
 *
 * @returns its output if it fails; otherwise an empty string
 */
export async function complaintsOf(command: string, options: readonly string[]): Promise<string> {
  try {
    await promisify(execFile)(command, options)
    return ''
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? `${error.stdout || error}` : String(error)
  }
}
