import type { IntegrationDefinition } from '../contract/integration.ts'
import type { IntegrationFixture } from './integration-host.ts'

/**
 * An integration with its emulator, as `createSample` of a package's `./testing` makes it: the sandbox and the tests of
 * the host take it, and the fixture of {@link describeIntegration} has the same parts.
 */
export interface IntegrationSample extends Pick<IntegrationFixture, 'inputs' | 'credentials' | 'prepare'> {
  definition: IntegrationDefinition
  provider: IntegrationFixture['provider'] & {
    /** Forgets everything. */
    reset(): void
  }
  /** The host's variables for its provider at this base URL. */
  variables(baseUrl: string): Record<string, string>
}
