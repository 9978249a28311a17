/**
 * `node recipient.mjs <address>`: prints the hash by which the host's log names a recipient, one for each key of the host.
 * It reads the same variables as the host.
 */
import { createAddressHash } from '@org/core/internal/host'
import { ConfigurationError, readConfig } from '../config.ts'

try {
  const [, , address] = process.argv
  const { recordKeys } = readConfig(process.env)
  if (recordKeys.length === 0)
    throw new ConfigurationError(
      'PLATFORM_WEBHOOK_SECRET or RECORD_KEYS is required: the log has no hashes without a key',
    )
  if (!address?.includes('@')) throw new Error('Name a mail address: node recipient.mjs ada@example.com')
  for (const key of recordKeys) console.log(await createAddressHash(key)(address))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
