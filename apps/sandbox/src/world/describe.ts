/** Describes events, responses and calls in a few words. */
import type { Exchange, HostResponse, OutboundCall } from './exchange.ts'
import { at, isRecord, listOf } from './json.ts'
import { describeData } from './summary.ts'
import { brief, count, shortenIds, withoutAbsent } from './text.ts'

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

/** The content of a call to the platform or to a provider, whichever it is. Contains secrets if the call did. */
export function describeCall({ to, method, request, response }: OutboundCall): string {
  const [refusal] = listOf(at(response.body, 'errors'))
  if (to === 'provider' && refusal !== undefined) return String(at(refusal, 'code'))
  const messages = loggedMessages(request.body)
  if (messages.length > 0) return messages.join(' / ')
  return shortenIds(describeData(method === 'GET' ? response.body : request.body))
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
