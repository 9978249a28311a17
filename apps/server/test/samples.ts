/** The integrations that bring a sample with their emulator, found through the list of the host. */
import type { IntegrationSample } from '@org/core/testing'
import { integrations } from '../src/integrations.ts'

/** How each of them makes its sample. */
export const sampleMakers: (() => IntegrationSample)[] = []
for (const { name } of integrations) {
  // The placeholder has no package of its own.
  if (name === 'auth') continue
  const { createSample } = await import(`@org/${name}/testing`)
  if (createSample) sampleMakers.push(createSample)
}
