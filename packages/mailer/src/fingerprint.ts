/**
 * Recognises a message that comes again, whatever its place in a batch.
 *
 * @module
 */

/** Four multipliers and first values: 128 bits, so that two messages of one batch never share a fingerprint by chance. */
const MULTIPLIERS = [597_399_067, 2_869_860_233, 951_274_213, 2_716_044_179]
const FIRST = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762]

/**
 * The fingerprint of a message as the caller gave it: the defaults of the mailer do not change it. It is not
 * cryptographic; whoever can guess the message can recognise it.
 *
 * @param message plain values, lists, objects and bytes without circles
 */
export function fingerprint(message: unknown): string {
  let [a = 0, b = 0, c = 0, d = 0] = FIRST
  const [byA = 0, byB = 0, byC = 0, byD = 0] = MULTIPLIERS

  function add(unit: number): void {
    a = b ^ Math.imul(a ^ unit, byA)
    b = c ^ Math.imul(b ^ unit, byB)
    c = d ^ Math.imul(c ^ unit, byC)
    d = a ^ Math.imul(d ^ unit, byD)
  }
  // The length comes first, so that no two lists of texts give the same units.
  function addText(text: string): void {
    add(text.length)
    for (let at = 0; at < text.length; at += 1) add(text.charCodeAt(at))
  }
  function addBytes(bytes: Uint8Array): void {
    add(-bytes.length)
    for (const byte of bytes) add(byte)
  }
  function addValue(value: unknown): void {
    if (value instanceof ArrayBuffer) addBytes(new Uint8Array(value))
    else if (ArrayBuffer.isView(value)) {
      addBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
    } else if (typeof value === 'object' && value !== null) addFields(value)
    else addText(`${typeof value} ${String(value)}`)
  }
  function addFields(value: object): void {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined)
    addText(Array.isArray(value) ? 'list' : 'object')
    add(entries.length)
    for (const [name, field] of entries.sort(([one], [other]) => (one < other ? -1 : 1))) {
      addText(name)
      addValue(field)
    }
  }

  addValue(message)
  // The last units reach every bit.
  for (let round = 0; round < 4; round += 1) add((a >>> 18) ^ (b >>> 22) ^ (c >>> 17) ^ (d >>> 19))
  return [a, b, c, d].map((part) => (part >>> 0).toString(36)).join('.')
}
