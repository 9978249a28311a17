import { createRedactor } from '@org/core/internal/host'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('a redactor', () => {
  const secret = 'sk/Test +Ab&12?é<'
  const bytes = [...Buffer.from(secret)].map((byte) => byte.toString(16).padStart(2, '0'))
  const units = secret.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  const escaped = encodeURIComponent(secret)
  const strange = 'strange%41\\u0042&amp;\\n'
  const long = Array.from({ length: 1_000 }, (_, at) => at.toString(36)).join('-')
  const huge = 'long'.repeat(1_000_000)
  it.each([
    ['in upper case', secret, secret.toUpperCase()],
    ['in lower case', secret, secret.toLowerCase()],
    ['in a URL', secret, escaped],
    ['in a form', secret, String(new URLSearchParams({ '': secret })).slice(1)],
    ['with percent escapes in lower case', secret, escaped.replaceAll(/%../g, (e) => e.toLowerCase())],
    ['with a percent escape for each byte', secret, `%${bytes.join('%')}`],
    ['with a JSON escape for each unit', secret, `\\u${units.join('\\u')}`],
    ['with escaped slashes', secret, secret.replaceAll('/', '\\/')],
    ['in hexadecimal', secret, bytes.join('').toUpperCase()],
    ['with white space around it', '  the-secret\n', 'the-secret'],
    ['with the form of a pattern', '.*.*.*', '.*.*.*'],
    ['with half a character in it', 'secret-\ud800', 'secret-\ud800'],
    ['with the look of an escape', strange, strange],
    ['with the look of an escape, in JSON', strange, JSON.stringify(strange).slice(1, -1)],
    ['of many characters by the first 200', long, long.slice(0, 200)],
    ['of a thousand characters', long, long.slice(0, 1_000)],
    ['of thousands of characters in hexadecimal', long, Buffer.from(long).toString('hex')],
    ['of four million characters', huge, huge],
  ])('removes a secret %s', (_, secret, spelling) => {
    const text = createRedactor([secret]).text(`before ${spelling} after\n%41 &amp; $& `)
    expect(text).toBe('before [redacted] after\n%41 &amp; $& ')
  })

  it('leaves what its reader has sent, and removes what others say', () => {
    const redactor = createRedactor(['the-"secret"', 'another-secret'])
    const result = { to: '<the-"secret"@b.co>', message: 'another-secret' }
    const clean = { ...result, message: '[redacted]' }
    expect(redactor.sparing({ to: ['The-"Secret"@b.co'] }).data(result)).toEqual(clean)
    const ofEvent = redactor.extend()
    ofEvent.add('a-password')
    const words = 'the-"secret", a-password'
    expect(ofEvent.sparing(words).text(words)).toBe('the-"secret", [redacted]')
  })

  it('removes a secret from base64 in both alphabets, wherever it stands in the encoded text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 10 })
    const long = fc.string({ unit: 'binary', minLength: 6, maxLength: 40 })
    // White space around a secret does not count. The constant needs both letters in which the alphabets differ.
    const secret = fc.oneof(
      long.filter((value) => value.trim().length >= 6),
      fc.constant('~~~???>>>ÿÿÿ'),
    )
    const alphabet = fc.constantFrom<BufferEncoding>('base64', 'base64url')
    fc.assert(
      fc.property(text, secret, text, alphabet, (before, secret, after, encoding) => {
        const encoded = `Basic ${Buffer.from(before + secret + after).toString(encoding)}`
        const clean = createRedactor([secret]).text(encoded)
        expect(clean).toContain('[redacted]')
        // At most a part of the secret's first and last character is left.
        expect(clean.length).toBeLessThanOrEqual(encoded.length + '[redacted]'.length - (secret.length - 2))
      }),
    )
  })

  it('takes linear time for a secret and a text that repeat one letter', () => {
    const redactor = createRedactor([`${'a'.repeat(60_000)}b${'a'.repeat(60_000)}`])
    // Quadratic time is minutes here, more than a test may take, and linear time a second.
    const near = `${'a'.repeat(199)}c`.repeat(80_000)
    // Not compared by the matcher: a failure would print all of it.
    expect(redactor.text(near) === near).toBe(true)
    expect(redactor.text('a'.repeat(16 * 1024 * 1024)).length).toBeLessThan(10_000)
  })

  it('keeps secrets that are too short, and values that are not text', () => {
    const redactor = createRedactor(['', 'eu', 'short', '     \n', '  short  '])
    for (const value of [undefined, null, 123456, [123456], { key: 'short' }]) redactor.add(value)
    const text = 'eu,     short     , 123456, secret-one'
    expect(redactor.text(text)).toBe(text)
  })

  it('knows the secrets of the redactor that it extends, also later ones, and keeps its own to itself', () => {
    const first = createRedactor(['secret-one'])
    const extended = first.extend()
    extended.add('secret-one-and-more')
    first.add('secret-three')
    const text = '(secret-one-and-more) secret-three secret-one'
    expect(extended.text(text)).toBe('([redacted]) [redacted] [redacted]')
    expect(first.text(text)).toBe('([redacted]-and-more) [redacted] [redacted]')
  })

  it.each(['the-secret', '1234567', '":"value', 'false,', '"]},{"', '\\\\\\\\\\\\'])(
    'returns a copy of data without “%s” at any depth, in values and in names, and keeps its structure',
    (secret) => {
      const dataWith = (key: string) => ({
        ...{ id: 12345678, none: null, list: [{ name: 'value', key }] },
        [`x ${key}`]: false,
      })
      const data = dataWith(secret)
      expect(createRedactor([secret]).data(data)).toEqual(dataWith('[redacted]'))
      expect([data, createRedactor().data(data)]).toEqual([dataWith(secret), dataWith(secret)])
    },
  )
})
