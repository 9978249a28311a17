/**
 * What the sandbox is started with.
 *
 * @module
 */

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A provider that was started, or that is there already. */
export interface Provider<Setting> {
  /** What the walks have to know of it. */
  setting: Setting
  /** What the host is configured with beside the environment. */
  variables: Environment
  /** What must never be printed. */
  secrets: readonly string[]
}

/** The sandbox can't start; the message says why, and what can be done. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError'
}
