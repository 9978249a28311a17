/** The host as a Node process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { run } from './run.ts'
import { keepHeapSmall } from './small-heap.ts'
import { findStoreFaults } from './store.ts'

keepHeapSmall()

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isOld = major < 22 || (major === 22 && minor < 13)

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
  if (isOld) throw new ConfigurationError(`The host needs Node 22.13 or newer. This is ${process.version}.`)
  await run(await readWholeConfig(), { environment: process.env })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
