import { count } from '../brief.ts'
import { at, listOf } from '../data.ts'
import type { OutboundCall } from '../exchange.ts'

/** What a call to the mail provider was about, in a few words. */
export function describeMailCall({ path, body, answer }: OutboundCall): string {
  const [pathname] = path.split('?')
  switch (pathname) {
    case '/server':
      return [at(answer, 'Name'), at(answer, 'Message')].filter(Boolean).join(', ')
    case '/email':
      return [`to ${at(body, 'To')}`, refusalOf(answer)].filter(Boolean).join(', ')
    case '/email/batch': {
      const refused = listOf(answer).filter((item) => refusalOf(item) !== undefined).length
      const accepted = listOf(answer).length - refused
      const tally = `${count(accepted)} accepted${refused > 0 ? `, ${count(refused)} refused` : ''}`
      return `${count(listOf(body).length)} messages${Array.isArray(answer) ? `, ${tally}` : ''}`
    }
    case '/stats/outbound':
      return `${at(answer, 'Sent') ?? '?'} sent, ${at(answer, 'Bounced') ?? '?'} bounced`
    default:
      return ''
  }
}

function refusalOf(answer: unknown): string | undefined {
  const code = at(answer, 'ErrorCode')
  return code === undefined || code === 0 ? undefined : `code ${code}`
}
