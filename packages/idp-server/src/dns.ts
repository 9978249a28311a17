/** The DNS records without which the live keys of a production instance do not work. */
import { type HandlerContext, type HealthCheck, isIntegrationError } from '@org/core'
import { parsePublishableKey } from '@org/idp/instance'
import { type Host, openWorkspace, type Workspace } from './connection.ts'
import { idpServer } from './integration.ts'
import type { Domain, DomainStatus } from './wire.ts'

/** A record that the provider does not find. */
type DnsRecord = Record<'type' | 'host' | 'value', string>

/** The longest time to ask for the records, in milliseconds: no event fails without them. */
const LONGEST_MS = 2_000

/** Says in the deployment's log and status which records a production instance needs. */
export async function tellMissingRecords(applicationId: string, workspace: Workspace): Promise<void> {
  const { log } = workspace.context
  try {
    const records = await findMissingRecords(applicationId, workspace)
    if (records.length === 0) return
    log.warn(describe(records), { records })
    log.done(describe(records))
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    log.warn(`The provider did not tell which DNS records the domain needs. ${error.message}`)
  }
}

const published = idpServer.outputs.pick({ applicationId: true, publishableKey: true })

/**
 * Checks the records of a production instance.
 *
 * @returns no check for development, and none if the provider refuses to tell. If it can't tell for the moment, the
 * check fails: an instance whose records are missing must not pass for a healthy one
 */
export async function checkDns(context: HandlerContext, host: Host): Promise<HealthCheck[]> {
  const started = performance.now()
  const latency = () => Math.round(performance.now() - started)
  try {
    const outputs = await context.deployment?.outputs(published)
    if (!outputs || parsePublishableKey(outputs.publishableKey).environment !== 'production') return []
    const workspace = await openWorkspace(context, host)
    const records = await findMissingRecords(outputs.applicationId, workspace)
    const healthy = records.length === 0
    return [{ name: 'dns', healthy, latencyMs: latency(), ...(!healthy && { message: describe(records) }) }]
  } catch (error) {
    if (!isIntegrationError(error)) throw error
    if (!error.retryable || error.code === 'platform_unavailable') return []
    const message = `The provider did not tell whether the domain has its DNS records. ${error.message}`
    return [{ name: 'dns', healthy: false, latencyMs: latency(), message }]
  }
}

/** Has the provider look for records that it does not know. */
async function findMissingRecords(
  applicationId: string,
  { client, context }: Workspace,
): Promise<DnsRecord[]> {
  const options = { signal: context.signal, deadline: Math.min(context.deadline, Date.now() + LONGEST_MS) }
  const missing = async ({ domainId, cnames }: Domain) => {
    const required = cnames.filter((record) => record.required)
    if (required.length === 0) return []
    const known = await client.getDomainStatus(applicationId, domainId, options)
    const { isComplete, verified } = known.isComplete ? known : await check(domainId, known)
    return isComplete ? [] : required.filter(({ host }) => !verified.includes(host))
  }
  /** The provider refuses a check soon after another one, and knows no more than it did. */
  const check = (domainId: string, known: DomainStatus) =>
    client.checkDomain(applicationId, domainId, options).catch((error: unknown) => {
      if (isIntegrationError(error) && error.provider?.status === 409) return known
      throw error
    })
  const domains = await client.listDomains(applicationId, options)
  const records = (await Promise.all(domains.map(missing))).flat()
  return records.map(({ host, value }) => ({ type: 'CNAME', host, value }))
}

function describe(records: readonly DnsRecord[]): string {
  const list = records.map(({ type, host, value }) => `${type} ${host} → ${value}`).join('; ')
  return `The live keys work once the domain has these DNS records: ${list}.`
}
