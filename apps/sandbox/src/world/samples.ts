/** The integrations whose emulator, examples and walk come from their package. */
import type { IntegrationSample } from '@org/core/testing'

const samples: readonly (() => IntegrationSample)[] = [
  // One line for each.
]

/** Makes an emulator for each. */
export const createSamples = (): IntegrationSample[] => samples.map((createSample) => createSample())
