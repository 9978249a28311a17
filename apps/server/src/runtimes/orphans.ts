/**
 * `node orphans.mjs [<file>]`: prints the applications of the identity provider's workspace that belong to no
 * deployment, as JSON, and changes nothing. It reads the same variables as the host, and the host's delivery store. The
 * file has the ids of the platform's deployments, one a line: what these have published is no orphan, even if the store
 * has forgotten it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { isIntegrationError } from '@org/core/errors'
import { createRedactor, escapeInvisible } from '@org/core/internal/host'
import { redisStore } from '@org/core/stores/redis'
import { checkSqliteFile } from '@org/core/stores/sqlite'
import { findOrphans } from '@org/idp-server/webhook'
import { createPlatformClient } from '@org/platform-client'
import { type Config, ConfigurationError, readConfig } from '../config.ts'
import { fileOf, type OpenStore, openStore } from '../stores/open.ts'
import { connectRedis } from '../stores/redis.ts'

async function main(listOfDeployments: string | undefined): Promise<void> {
  const list = listOfDeployments === undefined ? '' : readFileSync(listOfDeployments, 'utf8')
  const deploymentIds = list.match(/\S+/g) ?? []
  const config = readConfig(process.env)
  const { platformApiKey, platformBaseUrl } = config.idpServer
  if (platformApiKey === undefined)
    throw new ConfigurationError('IDP_PLATFORM_API_KEY is required: the token of the workspace to search')
  const platform = createPlatformClient(config.platform)
  try {
    const { store, close } = await openRecords(config)
    const searched = findOrphans({ platformApiKey, platformBaseUrl, store, platform, deploymentIds })
    const report = await searched.finally(close)
    // A name must not change how a terminal shows the rest.
    process.stdout.write(escapeInvisible(`${JSON.stringify(report, undefined, 2)}\n`))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hint = isIntegrationError(error) && error.hint ? ` ${error.hint}` : ''
    throw new Error(createRedactor(config.secrets).text(error.message + hint))
  }
}

/** Opens the store of the host. An empty one knows nobody, and would make every application look like an orphan. */
async function openRecords(config: Config): Promise<OpenStore> {
  const { deliveryStore: location, recordKeys } = config
  const file = fileOf(location)
  if (location === 'memory:')
    throw new ConfigurationError('DELIVERY_STORE: no other process can read memory:, so there is no record')
  if (file === undefined) {
    const client = await connectRedis(location)
    return { store: redisStore({ client, recordKeys }), close: async () => client.destroy() }
  }
  if (!existsSync(file))
    throw new ConfigurationError(
      `DELIVERY_STORE: there is no file ${file}. Name the host’s file, or run the command in the host’s folder.`,
    )
  const fault = await checkSqliteFile(file)
  if (fault !== undefined) throw new Error(fault)
  return openStore(config, () => {})
}

try {
  await main(process.argv[2])
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
