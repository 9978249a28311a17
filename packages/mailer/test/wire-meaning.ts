import * as z from 'zod'

const addressFields = new Set(['From', 'To', 'Cc', 'Bcc', 'ReplyTo'])
const record = z.record(z.string(), z.unknown())
const records = z.array(record)

/**
 * Reduces a message on the wire, or each message of a batch, to its meaning, so that two ways to write the
 * same message are equal. It ignores only these differences:
 *
 * - An optional field is absent, `null`, or empty: the provider’s reference gives none of them a meaning, and
 *   the provider’s own classes write `null`.
 * - The stream `outbound` is named or left out: it is the provider’s default.
 * - The order of headers and of metadata: they are found by name. The order of recipients and of attachments
 *   counts.
 * - The quotes around a name that needs none, and the space after a comma: RFC 5322 reads the same addresses.
 *
 * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
 */
export function meaningOf(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(meaningOf)
  const fields = Object.entries({ MessageStream: 'outbound', ...record.parse(body) })
  return withoutEmpty(
    fields.map(([name, value]): [string, unknown] => {
      if (addressFields.has(name) && typeof value === 'string') return [name, readAddresses(value)]
      if (name === 'Headers' && value) return [name, records.parse(value).sort(byName)]
      if (name === 'Attachments' && value)
        return [name, records.parse(value).map((attachment) => withoutEmpty(Object.entries(attachment)))]
      return [name, value]
    }),
  )
}

function byName(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return String(one.Name).localeCompare(String(other.Name))
}

function withoutEmpty(fields: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(fields.filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function readAddresses(text: string): { name: string; address: string }[] {
  const items = text.match(/(?:"(?:\\.|[^"\\])*"|[^",])+/g) ?? []
  return items.map((item) => {
    const [, name = '', address = ''] = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(item) ?? ['', '', item.trim()]
    const quoted = /^"(.*)"$/.exec(name)?.[1]
    return { name: quoted === undefined ? name : quoted.replaceAll(/\\(.)/g, '$1'), address }
  })
}
