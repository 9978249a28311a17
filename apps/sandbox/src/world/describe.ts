/** Describes events, responses and calls in a few words. */
import type { Exchange, HostResponse, OutboundCall } from './exchange.ts'
import { at, isRecord, listOf } from './json.ts'
import { brief, count, plural, shortenIds, withoutAbsent } from './text.ts'

/** The essentials of an event, for example `sendEmail { to: "ada@example.com" } · deployment dep_shop`. */
export function describeEvent({ request: { body }, deliveryId, signed }: Exchange): string {
  const inputs = at(body, 'deployment', 'inputs')
  const deployment = at(body, 'deployment', 'id')
  const facts = [
    isRecord(body) ? '' : 'a body that is not an event',
    isRecord(at(body, 'functionCall'))
      ? `${at(body, 'functionCall', 'name')} ${brief(at(body, 'functionCall', 'arguments') ?? {})}`
      : '',
    typeof at(body, 'challenge') === 'string' ? `challenge ${brief(at(body, 'challenge'))}` : '',
    isRecord(at(body, 'download')) ? `file ${brief(at(body, 'download', 'file'))}` : '',
    deployment === undefined
      ? ''
      : `deployment ${deployment}${inputs === undefined ? '' : ` ${brief(inputs)}`}`,
    deliveryId === undefined ? '' : `delivery ${deliveryId}`,
    signed ? 'signed' : '',
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

/** The response without its status: the code and the detail of a problem, or the data. */
export function describeResponse({ status, replayed, body }: HostResponse): string {
  const remark = replayed ? '(recorded) ' : ''
  if (status >= 400) {
    const retry = at(body, 'retryable') === true ? 'retryable' : 'final'
    return `${remark}${at(body, 'code')} (${retry}): ${at(body, 'detail')}`
  }
  const files = filesOf(body)
  if (files.length === 0) return remark + brief(withoutAbsent(body))
  return files
    .map(({ path, contentType, lines }) => `${path}, ${contentType}, ${count(lines.length)} lines`)
    .join('; ')
}

type Describe = (request: unknown, response: unknown) => string
type Endpoint = readonly [method: string, path: RegExp, describe: Describe]

const ENDPOINTS: readonly Endpoint[] = [
  ['GET', /^\/deployments\/[^/]+$/, (_, response) => `status ${at(response, 'status') ?? 'unknown'}`],
  ['PUT', /\/status$/, (body) => [at(body, 'status'), at(body, 'message')].filter(Boolean).join(': ')],
  ['', /\/outputs$/, describeOutputs],
  ['', /\/logs$/, (body) => loggedMessages(body).join(' / ')],
  ['', /\/metrics$/, (body) => join(at(body, 'metrics'), (one) => `${at(one, 'name')} ${at(one, 'value')}`)],
  ['', /\/downloads\//, (body) => join(at(body, 'files'), (file) => String(at(file, 'path')))],
  [
    'GET',
    /\/server$/,
    (_, response) => [at(response, 'Name'), at(response, 'Message')].filter(Boolean).join(', '),
  ],
  ['POST', /\/email$/, (body, response) => [`to ${at(body, 'To')}`, ...refusalOf(response)].join(', ')],
  ['POST', /\/email\/batch$/, describeBatch],
  [
    'GET',
    /\/stats\/outbound$/,
    (_, response) => `${at(response, 'Sent') ?? '?'} sent, ${at(response, 'Bounced') ?? '?'} bounced`,
  ],
  ['GET', /\/instance$/, (_, response) => `a ${at(response, 'environment_type')} instance`],
  ['GET', /\/domains$/, (_, response) => join(at(response, 'data'), (domain) => String(at(domain, 'name')))],
  ['POST', /\/users$/, (body) => join(at(body, 'email_address'), String)],
  ['GET', /\/users$/, (_, response) => plural(listOf(response).length, 'user')],
  ['GET', /\/users\/count$/, (_, response) => total(response, 'user')],
  ['PATCH', /\/users\/[^/]+\/metadata$/, brief],
  ['POST', /\/organizations$/, (body) => `“${at(body, 'name')}”`],
  ['GET', /\/organizations$/, (_, response) => total(response, 'organization')],
  ['POST', /\/platform\/applications$/, (body) => `“${at(body, 'name')}”, ${at(body, 'template')}`],
  ['GET', /\/platform\/applications$/, (_, response) => plural(listOf(response).length, 'application')],
  ['GET', /\/platform\/applications\/[^/]+$/, (_, response) => `“${at(response, 'name')}”`],
  ['DELETE', /^/, () => 'deleted'],
]

/** The content of a call to the platform or to a provider. Contains secrets if the call did. */
export function describeCall({ to, method, path, request, response }: OutboundCall): string {
  const [refusal] = listOf(at(response.body, 'errors'))
  if (to === 'provider' && refusal !== undefined) return String(at(refusal, 'code'))
  const [pathname = ''] = path.split('?')
  const endpoint = ENDPOINTS.find(
    ([known, pattern]) => (known === '' || known === method) && pattern.test(pathname),
  )
  return shortenIds(endpoint?.[2](request.body, response.body) ?? '')
}

/** Only the names, because the response shows the values. */
function describeOutputs(body: unknown): string {
  const outputs = at(body, 'outputs')
  const sensitive = listOf(at(body, 'sensitive'))
  return Object.keys(isRecord(outputs) ? outputs : {})
    .map((name) => (sensitive.includes(name) ? `${name} (sensitive)` : name))
    .join(', ')
}

function describeBatch(body: unknown, response: unknown): string {
  const messages = `${count(listOf(body).length)} messages`
  if (!Array.isArray(response)) return messages
  const refused = response.filter((item) => refusalOf(item).length > 0).length
  const accepted = `${messages}, ${count(response.length - refused)} accepted`
  return refused > 0 ? `${accepted}, ${count(refused)} refused` : accepted
}

function refusalOf(response: unknown): string[] {
  const code = at(response, 'ErrorCode')
  return code === undefined || code === 0 ? [] : [`code ${code}`]
}

function total(response: unknown, noun: string): string {
  const items = at(response, 'total_count')
  return typeof items === 'number' ? plural(items, noun) : ''
}

function join(items: unknown, describe: (item: unknown) => string): string {
  return listOf(items).map(describe).join(', ')
}

/** The messages that a callback writes into the deployment’s log. */
export function loggedMessages(body: unknown): string[] {
  return listOf(at(body, 'entries')).map((entry) => String(at(entry, 'message')))
}

/** The files in the body of a response; none if it has no files. */
export function filesOf(body: unknown): { path: string; contentType: string; lines: readonly string[] }[] {
  return listOf(at(body, 'files')).map((file) => ({
    path: String(at(file, 'path')),
    contentType: String(at(file, 'contentType')),
    lines: String(at(file, 'content')).trimEnd().split('\n'),
  }))
}
