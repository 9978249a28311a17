/** The host as a Node process. */
import { ConfigurationError, readConfig } from '../config.ts'
import { run } from './run.ts'
import { keepHeapSmall } from './small-heap.ts'

keepHeapSmall()

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isOld = major < 22 || (major === 22 && minor < 13)

try {
  if (isOld) throw new ConfigurationError(`The host needs Node 22.13 or newer. This is ${process.version}.`)
  await run(readConfig(process.env), { environment: process.env })
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
