/** The emulators and examples that packages bring, for the sandbox and for tests of the whole host. */
import type { IntegrationSample } from '@org/core/testing'
import { builtin } from './integrations.ts'

/** Makes a sample of each integration whose package has one. */
export async function createSamples(): Promise<IntegrationSample[]> {
  // The placeholder has no package of its own.
  const names = builtin.map(({ name }) => name).filter((name) => name !== 'auth')
  const entries = await Promise.all(names.map((name) => import(`@org/${name}/testing`)))
  return entries.flatMap(({ createSample }) => (createSample ? [createSample()] : []))
}
