import { brief, count } from '../brief.ts'
import { at, listOf } from '../data.ts'
import type { OutboundCall } from '../exchange.ts'

/** The endpoints that the walks meet, and what a call to each was about. */
const endpoints: readonly [method: string, path: RegExp, describe: (call: OutboundCall) => string][] = [
  ['GET', /\/instance$/, ({ answer }) => `a ${at(answer, 'environment_type')} instance`],
  ['GET', /\/domains$/, ({ answer }) => names(at(answer, 'data'))],
  ['POST', /\/users$/, ({ body }) => listOf(at(body, 'email_address')).join(', ')],
  ['GET', /\/users$/, ({ answer }) => plural(listOf(answer).length, 'user')],
  ['GET', /\/users\/count$/, ({ answer }) => plural(at(answer, 'total_count'), 'user')],
  ['PATCH', /\/users\/[^/]+\/metadata$/, ({ body }) => brief(body)],
  ['DELETE', /\/users\/[^/]+$/, () => 'deleted'],
  ['POST', /\/organizations$/, ({ body }) => `“${at(body, 'name')}”`],
  ['GET', /\/organizations$/, ({ answer }) => plural(at(answer, 'total_count'), 'organization')],
  ['POST', /\/platform\/applications$/, ({ body }) => `“${at(body, 'name')}”, ${at(body, 'template')}`],
  ['GET', /\/platform\/applications$/, ({ answer }) => plural(listOf(answer).length, 'application')],
  ['GET', /\/platform\/applications\/[^/]+$/, ({ answer }) => `“${at(answer, 'name')}”`],
  ['DELETE', /\/platform\/applications\/[^/]+$/, () => 'deleted'],
]

/** What a call to the identity provider was about, in a few words. */
export function describeIdpCall(call: OutboundCall): string {
  const [refusal] = listOf(at(call.answer, 'errors'))
  if (refusal !== undefined) return String(at(refusal, 'code'))
  const [pathname = ''] = call.path.split('?')
  const endpoint = endpoints.find(([method, path]) => method === call.method && path.test(pathname))
  return endpoint?.[2](call) ?? ''
}

function names(items: unknown): string {
  return listOf(items)
    .map((item) => at(item, 'name'))
    .join(', ')
}

function plural(number: unknown, noun: string): string {
  if (typeof number !== 'number') return ''
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`
}
