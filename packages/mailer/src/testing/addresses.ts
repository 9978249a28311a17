import { type Refusal, refuse } from './refusals.ts'

// The provider's own rules: https://postmarkapp.com/support/article/1180-what-does-errorcode-300-mean
const mailboxRule = /^[a-z0-9!#$%&'`*+\-/=^_{}|~]+(?:\.[a-z0-9!#$%&'`*+\-/=^_{}|~]+)*$/i
const domainRule = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i

/**
 * Parses a header of addresses: `a@b.c`, `Name <a@b.c>`, or several of them with commas between.
 *
 * @returns the bare addresses, or why the provider does not take them
 */
export function parseAddresses(field: string, header: string): string[] | Refusal {
  if (/[\r\n]/.test(header)) return refuse('invalidRequest', `Error parsing '${field}': Illegal line break.`)
  const addresses: string[] = []
  for (const entry of splitOutsideQuotes(header)) {
    const address = bareAddress(entry.trim())
    if (address === '') continue
    const fault = check(address)
    if (fault) return refuse('invalidRequest', `Error parsing '${field}': ${fault}`)
    addresses.push(address)
  }
  return addresses
}

function splitOutsideQuotes(header: string): string[] {
  if (!header.includes('"')) return header.split(',')
  const entries: string[] = []
  let quoted = false
  let begin = 0
  for (let index = 0; index < header.length; index += 1) {
    if (header[index] === '\\' && quoted) index += 1
    else if (header[index] === '"') quoted = !quoted
    else if (header[index] === ',' && !quoted) {
      entries.push(header.slice(begin, index))
      begin = index + 1
    }
  }
  return [...entries, header.slice(begin)]
}

function bareAddress(entry: string): string {
  if (!entry.endsWith('>')) return entry
  const opening = entry.lastIndexOf('<')
  return opening === -1 ? entry : entry.slice(opening + 1, -1).trim()
}

function check(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  if (at === -1) return `Illegal email address '${address}'. It must contain the '@' symbol.`
  const [mailbox, domain] = [address.slice(0, at), address.slice(at + 1)]
  if (!domainRule.test(domain)) return `Illegal email domain '${domain}' in address '${address}'.`
  if (!mailboxRule.test(mailbox)) return `Illegal email mailbox '${mailbox}' in address '${address}'.`
  return undefined
}
