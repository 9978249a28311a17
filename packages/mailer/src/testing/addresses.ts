import { Refusal } from './refusals.ts'

// The provider’s rules: https://postmarkapp.com/support/article/1180-what-does-errorcode-300-mean
const addressRule = /^[\w!#$%&'`*+\-/=^{}|~]+(?:\.[\w!#$%&'`*+\-/=^{}|~]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i
/** One entry of a list: a comma inside quotes does not separate. */
const entryRule = /(?:"(?:\\.|[^"\\])*"|[^",])+/g

/**
 * Parses an address header: `a@b.c`, `Name <a@b.c>`, or several of them, separated by commas.
 *
 * @returns the bare addresses
 * @throws {Refusal} if one of them is invalid
 */
export function parseAddresses(field: string, header: string | null | undefined): string[] {
  const text = header ?? ''
  if (/[\r\n\u0085\u2028\u2029]/.test(text))
    throw new Refusal('invalidRequest', `Error parsing '${field}': Illegal line break.`)
  const addresses = (text.match(entryRule) ?? []).map(bareAddress).filter((address) => address !== '')
  const illegal = addresses.find((address) => !addressRule.test(address))
  if (illegal === undefined) return addresses
  throw new Refusal('invalidRequest', `Error parsing '${field}': Illegal email address '${illegal}'.`)
}

function bareAddress(entry: string): string {
  return /<([^<>]*)>\s*$/.exec(entry)?.[1]?.trim() ?? entry.trim()
}
