/** Starts the host with the variables of the process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { findStoreFaults } from '../stores/open.ts'
import { run } from './run.ts'

/** Reads the configuration. A faulty one is reported with the faults of the store, which opens only later. */
async function readWholeConfig() {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (error instanceof ConfigurationError && error.message.includes('DELIVERY_STORE')) throw error
    return readConfig(process.env, {
      others: await findStoreFaults(process.env.DELIVERY_STORE?.trim() || undefined),
    })
  }
}

try {
  await run(await readWholeConfig(), { environment: process.env })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
