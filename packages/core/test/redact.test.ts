import { createRedactor } from '@org/core/internal'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('a redactor', () => {
  it('removes a secret as it looks in a URL, in a form, in JSON, and in JSON that is quoted in JSON', () => {
    const secret = 'p&ss w"rd\\1+é'
    const { text } = createRedactor([secret])
    expect(text(`?key=${encodeURIComponent(secret)}`)).toBe('?key=[redacted]')
    expect(text(`${new URLSearchParams({ secret })}`)).toBe('secret=[redacted]')
    expect(text(JSON.stringify({ key: secret }))).toBe('{"key":"[redacted]"}')
    const quoted = JSON.stringify({ body: JSON.stringify({ secret }) })
    expect(JSON.parse(JSON.parse(text(quoted)).body)).toEqual({ secret: '[redacted]' })
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

  it.each([
    ['white space around it', '  the-secret\n', '(the-secret)', '([redacted])'],
    ['the form of a pattern', '.*.*.*', 'anything, and $& .*.*.*', 'anything, and $& [redacted]'],
    ['half a character in it', 'secret-\ud800', '(secret-\ud800)', '([redacted])'],
  ])('removes a secret with %s', (_, secret, text, clean) => {
    expect(createRedactor([secret]).text(text)).toBe(clean)
  })

  it('removes a secret of four million characters', () => {
    const secret = 'long'.repeat(1_000_000)
    expect(createRedactor([secret]).text(`(${secret})`)).toBe('([redacted])')
  })

  it('keeps secrets that are too short, and values that are not text', () => {
    const redactor = createRedactor(['', 'eu', 'short', '     \n', '  short  '])
    for (const value of [undefined, null, 123456, { key: 'secret-one' }]) redactor.add(value)
    const text = 'eu,     short     , 123456, secret-one'
    expect(redactor.text(text)).toBe(text)
  })

  it('removes the longer of two secrets that begin alike, in any order, also if it extends another redactor', () => {
    const [short, long] = ['sk_test_a', 'sk_test_a_and_more']
    const extended = createRedactor([short]).extend()
    extended.add(long)
    for (const redactor of [createRedactor([short, long]), createRedactor([long, short]), extended])
      expect(redactor.text(`(${long})`)).toBe('([redacted])')
  })

  it('knows the secrets of the redactor that it extends, also later ones, and keeps its own to itself', () => {
    const first = createRedactor(['secret-one'])
    const second = first.extend()
    second.add('secret-two')
    first.add('secret-three')
    const text = 'secret-one secret-two secret-three secret-one'
    expect(second.text(text)).toBe('[redacted] [redacted] [redacted] [redacted]')
    expect(first.text(text)).toBe('[redacted] secret-two [redacted] [redacted]')
  })

  it('returns a copy of data without secrets at any depth, in values and in names', () => {
    const data = { list: [{ key: 'the-secret' }], 'x-the-secret': 'a the-secret b', count: 7, none: null }
    const clean = { list: [{ key: '[redacted]' }], 'x-[redacted]': 'a [redacted] b', count: 7, none: null }
    expect(createRedactor(['the-secret']).data(data)).toEqual(clean)
    expect(data.list[0]?.key).toBe('the-secret')
    expect(createRedactor().data(data)).toBe(data)
  })

  it.each(['1234567', '":"value', 'false,', '"]},{"', '\\\\\\\\\\\\'])(
    'keeps the structure of data if the secret %j looks like a part of JSON',
    (secret) => {
      const data = { id: 12345678, flag: false, list: [{ name: 'value' }], text: `a ${secret} b` }
      expect(createRedactor([secret]).data(data)).toEqual({ ...data, text: 'a [redacted] b' })
    },
  )
})
