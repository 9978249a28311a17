import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../src/index.ts'

describe('a text', () => {
  it('loses every occurrence of every secret, also of those that were added later', () => {
    const redactor = createRedactor(['secret-one'])
    redactor.add('secret-two')
    expect(redactor.text('secret-one, secret-two and secret-one')).toBe(
      '[redacted], [redacted] and [redacted]',
    )
  })

  it('loses a secret as it looks in a URL and in JSON', () => {
    const redactor = createRedactor(['p&ss w"rd\\1'])
    expect(redactor.text(`?key=${encodeURIComponent('p&ss w"rd\\1')}`)).toBe('?key=[redacted]')
    expect(redactor.text(JSON.stringify({ key: 'p&ss w"rd\\1' }))).toBe('{"key":"[redacted]"}')
  })

  it('loses a secret as it looks in a form, and in JSON that is quoted in JSON', () => {
    const secret = 'p&ss w"rd\\1+é'
    const redactor = createRedactor([secret])
    expect(redactor.text(`key=${new URLSearchParams({ secret })}`)).toBe('key=secret=[redacted]')
    const quoted = JSON.stringify({ body: JSON.stringify({ secret }) })
    expect(JSON.parse(JSON.parse(redactor.text(quoted)).body)).toEqual({ secret: '[redacted]' })
  })

  it('loses a secret in base64, wherever it stands in what is encoded, and in both alphabets', () => {
    const text = fc.string({ unit: 'binary', maxLength: 10 })
    // One that needs both letters in which the alphabets differ.
    const secret = fc.oneof(
      // White space around it does not count towards the length that makes a secret.
      fc.string({ unit: 'binary', minLength: 6, maxLength: 40 }).filter((text) => text.trim().length >= 6),
      fc.constant('~~~???>>>ÿÿÿ'),
    )
    fc.assert(
      fc.property(
        text,
        secret,
        text,
        fc.constantFrom<BufferEncoding>('base64', 'base64url'),
        (before, secret, after, encoding) => {
          const encoded = Buffer.from(before + secret + after).toString(encoding)
          const clean = createRedactor([secret]).text(`Basic ${encoded}`)
          expect(clean).toContain('[redacted]')
          // At most a piece of the secret's first and last character is left.
          expect(clean.length).toBeLessThanOrEqual(
            `Basic ${encoded}`.length + '[redacted]'.length - (secret.length - 2),
          )
        },
      ),
    )
  })

  it('loses a secret that was pasted with white space around it', () => {
    expect(createRedactor(['  the-secret\n']).text('(the-secret)')).toBe('([redacted])')
    expect(createRedactor(['     \n', '  short  ']).text('    short     ')).toBe('    short     ')
  })

  it('loses a secret of any length', () => {
    const secret = 'long'.repeat(1_000_000)
    expect(createRedactor([secret]).text(`(${secret})`)).toBe('([redacted])')
  })

  it('loses all of a secret that begins with another one, whichever was known first', () => {
    for (const secrets of [
      ['sk_test_a', 'sk_test_a_and_more'],
      ['sk_test_a_and_more', 'sk_test_a'],
    ]) {
      expect(createRedactor(secrets).text('(sk_test_a_and_more)')).toBe('([redacted])')
    }
  })

  it('keeps what is too short to be a secret, and what is no text', () => {
    const redactor = createRedactor(['', 'eu', 'short'])
    for (const value of [undefined, null, 123456, { key: 'secret-one' }]) redactor.add(value)
    expect(redactor.text('eu, short, 123456, secret-one')).toBe('eu, short, 123456, secret-one')
  })

  it('takes a secret for what it is, not for a pattern', () => {
    expect(createRedactor(['.*.*.*']).text('anything, and $& .*.*.*')).toBe('anything, and $& [redacted]')
  })

  it('takes a secret that is half a character', () => {
    const redactor = createRedactor()
    redactor.add('secret-\ud800')
    expect(redactor.text('(secret-\ud800)')).toBe('([redacted])')
  })
})

describe('a redactor that extends another', () => {
  it('knows its secrets too, also those that are added later, and keeps its own to itself', () => {
    const first = createRedactor(['secret-one'])
    const second = first.extend()
    second.add('secret-two')
    first.add('secret-three')
    expect(second.text('secret-one secret-two secret-three')).toBe('[redacted] [redacted] [redacted]')
    expect(first.text('secret-one secret-two secret-three')).toBe('[redacted] secret-two [redacted]')
  })

  it('removes the longest first, whoever knows it', () => {
    const first = createRedactor(['sk_test_a'])
    const second = first.extend()
    second.add('sk_test_a_and_more')
    expect(second.text('(sk_test_a_and_more)')).toBe('([redacted])')
  })
})

describe('data', () => {
  it('loses secrets at any depth, in values and in names, and is a copy', () => {
    const data = { list: [{ key: 'the-secret' }], 'x-the-secret': 'a the-secret b', count: 7, none: null }
    expect(createRedactor(['the-secret']).data(data)).toEqual({
      list: [{ key: '[redacted]' }],
      'x-[redacted]': 'a [redacted] b',
      count: 7,
      none: null,
    })
    expect(data.list[0]?.key).toBe('the-secret')
  })

  it('is left as it is where no secret is known, and where there is none', () => {
    const data = { key: 'value' }
    expect(createRedactor().data(data)).toBe(data)
    expect(createRedactor(['the-secret']).data(undefined)).toBeUndefined()
  })

  it.each(['1234567', '":"value', ',"list"', 'false,', '"]},{"', '\\\\\\\\\\\\'])(
    'stays whole where the secret %j looks like a part of JSON',
    (secret) => {
      const data = { id: 12345678, flag: false, list: [{ name: 'value' }], text: `a ${secret} b` }
      expect(createRedactor([secret]).data(data)).toEqual({ ...data, text: 'a [redacted] b' })
    },
  )
})
