/**
 * Events, answers and callbacks in a few words.
 *
 * @module
 */
import { brief, count } from './brief.ts'
import { at, isRecord, listOf } from './data.ts'
import type { Exchange, ExchangeAnswer, OutboundCall } from './exchange.ts'
import { filesOf, withoutAbsent } from './shorten.ts'

/** The essentials of an event, for example `sendEmail { to: "ada@example.com" }, for dep_shop`. */
export function describeEvent({ event, deliveryId, signed }: Exchange): string {
  const facts = [
    isRecord(event) ? describeContent(event) : 'a body that is not an event',
    deliveryId === undefined ? '' : `delivery ${deliveryId}`,
    signed ? 'signed' : '',
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

function describeContent(event: Record<string, unknown>): string {
  const deployment = at(event, 'deployment', 'id')
  const inputs = at(event, 'deployment', 'inputs')
  const facts = [
    isRecord(event.functionCall)
      ? `${at(event, 'functionCall', 'name')} ${brief(at(event, 'functionCall', 'arguments') ?? {})}`
      : '',
    typeof event.challenge === 'string' ? `challenge ${brief(event.challenge)}` : '',
    isRecord(event.download) ? `file ${brief(event.download.file)}` : '',
    deployment === undefined
      ? ''
      : `deployment ${deployment}${inputs === undefined ? '' : ` ${brief(inputs)}`}`,
  ]
  return facts.filter((fact) => fact !== '').join(' · ')
}

/** The answer without its status: a problem as its code and its explanation, anything else as data. */
export function describeAnswer({ status, replayed, body }: ExchangeAnswer): string {
  const remark = replayed ? '(recorded) ' : ''
  if (status < 400) return remark + describeSuccess(body)
  const retry = at(body, 'retryable') === true ? 'may be repeated' : 'final'
  return `${remark}${at(body, 'code')} (${retry}): ${at(body, 'detail')}`
}

function describeSuccess(body: unknown): string {
  const files = filesOf(body)
  if (files.length === 0) return brief(withoutAbsent(body))
  return files
    .map(({ path, contentType, lines }) => `${path}, ${contentType}, ${count(lines.length)} lines`)
    .join('; ')
}

/** What a callback told the platform, or what the platform told the host. */
export function describeCallback({ method, path, body, answer }: OutboundCall): string {
  if (method === 'GET') return `status ${at(answer, 'status') ?? 'unknown'}`
  switch (/^\/deployments\/[^/]+\/([a-z]+)/.exec(path)?.[1]) {
    case 'status': {
      const message = at(body, 'message')
      return `${at(body, 'status')}${message === undefined ? '' : `: ${message}`}`
    }
    case 'outputs':
      return describeOutputs(body)
    case 'logs':
      return loggedMessages(body).join(' / ')
    case 'metrics':
      return listOf(at(body, 'metrics'))
        .map((metric) => `${at(metric, 'name')} ${at(metric, 'value')}`)
        .join(', ')
    case 'downloads':
      return filesOf(body)
        .map(({ path }) => path)
        .join(', ')
    default:
      return ''
  }
}

/** The names alone: the answer shows the values. */
function describeOutputs(body: unknown): string {
  const outputs = at(body, 'outputs')
  const sensitive = listOf(at(body, 'sensitive'))
  return Object.keys(isRecord(outputs) ? outputs : {})
    .map((name) => (sensitive.includes(name) ? `${name} (sensitive)` : name))
    .join(', ')
}

/** The messages that a callback wrote into the deployment's log. */
export function loggedMessages(body: unknown): string[] {
  return listOf(at(body, 'entries')).map((entry) => String(at(entry, 'message')))
}
