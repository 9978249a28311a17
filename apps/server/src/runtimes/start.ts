/** Starts the host with the variables of the process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { importIntegrations } from '../integrations.ts'
import { findStoreFaults } from '../stores/open.ts'
import { run } from './run.ts'

/** Reads the configuration. A faulty one is reported with the faults of the store, which opens only later. */
async function readWholeConfig(faults: readonly string[]) {
  try {
    return readConfig(process.env, { others: faults })
  } catch (error) {
    if (error instanceof ConfigurationError && error.message.includes('DELIVERY_STORE')) throw error
    const ofStore = await findStoreFaults(process.env.DELIVERY_STORE?.trim() || undefined)
    return readConfig(process.env, { others: [...faults, ...ofStore] })
  }
}

try {
  const { integrations, faults } = await importIntegrations(process.env.INTEGRATIONS)
  const config = await readWholeConfig(faults)
  await run(config, { environment: process.env, integrations })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
