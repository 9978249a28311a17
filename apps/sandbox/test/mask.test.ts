import { describe, expect, it } from 'vitest'
import { createMask } from '../src/mask.ts'

const mask = createMask(['a-known-secret'])

describe('the mask', () => {
  it('hides a known secret wherever it stands', () => {
    expect(mask({ detail: 'It is a-known-secret.' })).toEqual({ detail: 'It is [redacted].' })
  })

  it('hides what a field calls a secret, and leaves references to read', () => {
    const inputs = { apiToken: 'anything', password: 'hunter2', secretKey: 'sk_test_abc def' }
    expect(mask(inputs)).toEqual({ apiToken: '[redacted]', password: '[redacted]', secretKey: '[redacted]' })
    expect(mask({ apiToken: '{{env.TOKEN}}' })).toEqual({ apiToken: '{{env.TOKEN}}' })
  })

  it('leaves the prefix of a secret key, also in the middle of a file', () => {
    expect(mask({ publishableKey: 'sk_live_abc-DEF_123' })).toEqual({
      publishableKey: 'sk_live_[redacted]',
    })
    expect(mask({ content: "A='pk_test_abc='\nB='sk_test_abc'\n" })).toEqual({
      content: "A='pk_test_abc='\nB='sk_test_[redacted]'\n",
    })
  })

  it('leaves a publishable key whole, in whichever field it is', () => {
    expect(mask({ secretKey: 'pk_test_abc=' })).toEqual({ secretKey: 'pk_test_abc=' })
  })
})
