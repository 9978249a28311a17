/** Starts the host with the variables of the process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { importIntegrations } from '../integrations.ts'
import { findStoreFaults } from '../stores/open.ts'
import { run } from './run.ts'

try {
  const { integrations, faults } = await importIntegrations(process.env.INTEGRATIONS)
  const storeFaults = await findStoreFaults(process.env.DELIVERY_STORE?.trim() || undefined)
  const config = readConfig(process.env, { others: [...faults, ...storeFaults] })
  await run(config, { environment: process.env, integrations })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
