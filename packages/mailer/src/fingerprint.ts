/**
 * Recognises a message that comes again, whatever its place in a batch.
 *
 * @module
 */
import type { ComposedMessage } from './compose.ts'

/** Four multipliers and first values: 128 bits, so that two messages of one batch never share a fingerprint by chance. */
const MULTIPLIERS = [597_399_067, 2_869_860_233, 951_274_213, 2_716_044_179]
const FIRST = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762]

/**
 * The fingerprint of a message’s text on the wire, whether a file in it is text or bytes. It is not cryptographic:
 * whoever can guess the message can recognise it.
 */
export function fingerprint(parts: ComposedMessage['parts']): string {
  let [a = 0, b = 0, c = 0, d = 0] = FIRST
  const [byA = 0, byB = 0, byC = 0, byD = 0] = MULTIPLIERS

  function add(unit: number): void {
    a = b ^ Math.imul(a ^ unit, byA)
    b = c ^ Math.imul(b ^ unit, byB)
    c = d ^ Math.imul(c ^ unit, byC)
    d = a ^ Math.imul(d ^ unit, byD)
  }

  for (const part of parts) {
    if (typeof part === 'string') for (let at = 0; at < part.length; at += 1) add(part.charCodeAt(at))
    else for (const byte of part) add(byte)
  }
  // The last units reach every bit.
  for (let round = 0; round < 4; round += 1) add((a >>> 18) ^ (b >>> 22) ^ (c >>> 17) ^ (d >>> 19))
  return [a, b, c, d].map((part) => (part >>> 0).toString(36)).join('.')
}
