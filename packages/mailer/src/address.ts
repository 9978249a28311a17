import { isRecord } from './fields.ts'
import { hasControlCharacter } from './headers.ts'

/**
 * A mail address: `a@b.c`, `Name <a@b.c>`, or its two parts.
 *
 * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
 */
export type Address =
  | string
  | {
      /** The display name as people read it, without quotes. */
      readonly name?: string | undefined
      /** The bare address, `a@b.c`. */
      readonly address: string
    }

/** One address or a list. */
export type Addresses = Address | readonly Address[]

/** A mail address as it leaves. */
export interface ParsedAddress {
  /** Empty if there is none. */
  name: string
  /** The bare address, `a@b.c`. */
  address: string
}

/** The fault of a value that is not one address. */
const ADDRESS_FAULT = 'is invalid: expected one address, a@b.c or Name <a@b.c>'

const NO_ASCII = 'is invalid: the provider accepts only ASCII'

const LONGEST = 255
/** The longest line of a mail (RFC 5322 §2.1.1). */
const LONGEST_NAME = 998
// Lengths: RFC 5321 §4.5.3.1.1 and RFC 1123 §2.1.
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const BARE = new RegExp(`^[\\w!#$%&'*+/=?^\`{|}~.-]{1,64}@${LABEL}(?:\\.${LABEL})*$`)
const NOT_ASCII = /[^ -~]/
const QUOTED = /^"(?:[^"\\]|\\.)*"$/
const NEEDS_QUOTES = /[,;:<>@()[\]\\"]/

/**
 * Whether a text is one mail address that the mailer sends to or from: `a@b.c` or `Name <a@b.c>`.
 *
 * @see https://postmarkapp.com/developer/api/email-api#send-a-single-email
 */
export function isAddress(text: string): boolean {
  return typeof parseAddress(text) !== 'string'
}

/**
 * Parses one address. It accepts exactly one, so that a comma in a user’s input can’t add a recipient.
 *
 * @returns the fault if it is invalid, without any part of the address
 */
export function parseAddress(given: unknown): ParsedAddress | string {
  if (typeof given === 'string') {
    if (given.length <= LONGEST && BARE.test(given)) return { name: '', address: given }
    if (hasControlCharacter(given)) return ADDRESS_FAULT
    const text = given.trim()
    const open = text.endsWith('>') ? text.lastIndexOf('<') : -1
    if (open === -1) return text.includes(',') ? faultOf(text) : join('', text)
    const name = text.slice(0, open).trim()
    const isQuoted = QUOTED.test(name)
    // Another address in front.
    if (!isQuoted && /[<>]|^[^@]*@.*[,;]/.test(name)) return faultOf(text)
    return join(isQuoted ? unquote(name) : name, text.slice(open + 1, -1).trim())
  }
  if (!isRecord(given)) return ADDRESS_FAULT
  const { name, address, ...others } = given
  if (Object.keys(others).length > 0) return 'has a field that no address has: expected name and address'
  const display = name ?? ''
  if (typeof address !== 'string' || typeof display !== 'string') return ADDRESS_FAULT
  if (hasControlCharacter(display + address)) return ADDRESS_FAULT
  return join(display.trim(), address.trim())
}

/** Not split: a comma in a user’s input would add a recipient. */
function faultOf(text: string): string {
  return text.includes(',') && text.split('@').length > 2
    ? 'has several addresses: expected one, or a list of them'
    : ADDRESS_FAULT
}

/** Formats an address for a header, and quotes a name that contains a special character. */
export function formatAddress({ name, address }: ParsedAddress): string {
  if (name === '') return address
  const display = NEEDS_QUOTES.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name
  return `${display} <${address}>`
}

function join(name: string, bare: string): ParsedAddress | string {
  if (name.length > LONGEST_NAME) return `is invalid: its name has more than ${LONGEST_NAME} characters`
  if (bare.length <= LONGEST && BARE.test(bare)) return { name, address: bare }
  if (!NOT_ASCII.test(bare)) return ADDRESS_FAULT
  const isLocal = NOT_ASCII.test(bare.slice(0, bare.lastIndexOf('@')))
  return isLocal
    ? `${NO_ASCII} before the @`
    : `${NO_ASCII}. Write a domain in other letters as punycode, xn--…`
}

function unquote(name: string): string {
  return name.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}
