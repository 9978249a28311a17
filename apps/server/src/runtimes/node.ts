/** The host as a Node process. */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 13)) {
  console.error(`The host needs Node 22.13 or newer. This is ${process.version}.`)
  process.exitCode = 1
} else {
  // Beside the program, where only those may write who can change the program. NODE_COMPILE_CACHE names another folder.
  module.enableCompileCache(fileURLToPath(new URL('.cache', import.meta.url)))
  await import('./start.ts')
}
