/** The host as a Node process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { run } from './run.ts'

try {
  await run(readConfig(process.env), { environment: process.env })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
