/**
 * `node orphans.js`: lists the applications of the identity provider's workspace that belong to no deployment, and
 * changes nothing. It reads the same variables as the host, and the host's delivery store.
 */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isIntegrationError } from '@org/core/errors'
import { createRedactor, escapeInvisible } from '@org/core/internal/host'
import { findOrphans, type OrphanReport } from '@org/idp-server/webhook'
import { createPlatformClient } from '@org/platform-client'
import { type Config, ConfigurationError, readConfig } from '../config.ts'
import { openStore } from '../stores/open.ts'

const USAGE = `node orphans.js [--json] [--deployments <file>]

Lists the applications of the workspace of IDP_PLATFORM_API_KEY that belong to no deployment. It deletes nothing.
Run it with the variables of the host. For the workspace of another token, set IDP_PLATFORM_API_KEY to it.

  --json                 prints the result as JSON
  --deployments <file>   the ids of the platform's deployments, one a line: what these have published is no orphan,
                         even if the store has forgotten it
`

const MEANINGS = {
  orphaned: 'Its deployment is known, and does not use it.',
  unrecorded:
    'No deployment is known. A person may have made it by hand, or a host with another store. If the store was lost, --deployments tells what is published. A creation that took effect after its host had died leaves one, too.',
}
const ADVICE =
  'Nothing was deleted. An application that is being created right now may be in the list: run the command again after five minutes, and look at the application at the provider before you delete it.'

/** Reading it proves that the store is reachable. */
const ANY_SUBJECT = 'orphans'
/** Tries to reach the store, and the wait between two of them in milliseconds. */
const TRIES = 30
const PAUSE_MS = 100

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, deployments: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help) return print(USAGE)
  const { deployments: file } = values
  const lines = file === undefined ? [] : readFileSync(file, 'utf8').split('\n')
  const deploymentIds = lines.flatMap((line) => line.trim() || [])
  const config = readConfig(process.env)
  const redactor = createRedactor(config.secrets)
  try {
    const report = await search(config, deploymentIds)
    print(values.json ? `${JSON.stringify(report, undefined, 2)}\n` : toTable(report))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hint = isIntegrationError(error) && error.hint ? ` ${error.hint}` : ''
    throw new Error(redactor.text(error.message + hint))
  }
}

async function search(config: Config, deploymentIds: readonly string[]): Promise<OrphanReport> {
  const { platformApiKey, platformBaseUrl } = config.idpServer
  if (platformApiKey === undefined)
    throw new ConfigurationError('IDP_PLATFORM_API_KEY is required: the token of the workspace to search')
  checkStore(config.deliveryStore)
  const { store, close, fault } = await openStore(config, () => {})
  try {
    if (fault) throw new Error(fault)
    await reach(() => store.read(ANY_SUBJECT))
    const platform = createPlatformClient(config.platform)
    return await findOrphans({ platformApiKey, platformBaseUrl, store, platform, deploymentIds })
  } finally {
    await close()
  }
}

/** An empty store knows nobody, and would make every application look like an orphan. */
function checkStore(location: string): void {
  if (location === 'memory:')
    throw new ConfigurationError('DELIVERY_STORE: no other process can read memory:, so there is no record')
  const file = location.startsWith('sqlite:') ? location.slice('sqlite:'.length) : undefined
  if (file !== undefined && !existsSync(file)) {
    throw new ConfigurationError(
      `DELIVERY_STORE: there is no file ${file}. Name the host’s file, or run the command in the host’s folder.`,
    )
  }
}

/** Redis connects in the background. */
async function reach(read: () => Promise<unknown>, tries = TRIES): Promise<void> {
  try {
    await read()
  } catch (cause) {
    if (tries === 1) throw new Error('The delivery store is unreachable.', { cause })
    await setTimeout(PAUSE_MS)
    await reach(read, tries - 1)
  }
}

function toTable({ applications, orphans }: OrphanReport): string {
  const count = `${orphans.length} of ${applications} applications belong to no deployment, as far as is known here.\n`
  if (orphans.length === 0) return count
  const rows = [
    ['APPLICATION', 'NAME', 'STATE', 'REASON'],
    ...orphans.map(({ applicationId, name, state, reason }) => [
      applicationId,
      name === undefined ? '-' : JSON.stringify(name),
      state,
      reason,
    ]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  const shown = new Set(orphans.map(({ state }) => state))
  const meanings = [...shown].map((state) => `${state}: ${MEANINGS[state]}`)
  return `${[count, ...lines, '', ...meanings, '', ADVICE].join('\n')}\n`
}

function print(text: string): void {
  process.stdout.write(escapeInvisible(text))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
