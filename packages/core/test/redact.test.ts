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
