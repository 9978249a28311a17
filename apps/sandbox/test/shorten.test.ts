import { describe, expect, it } from 'vitest'
import { shortenIds, shortenPath, withoutAbsent } from '../src/shorten.ts'

const id = `user_2AbC${'x'.repeat(23)}`

describe('what is shown of a call', () => {
  it('names a long id by its beginning, and leaves ids that people made', () => {
    expect(shortenIds(`${id} was created for dep_customer_portal.`)).toBe(
      'user_2AbC… was created for dep_customer_portal.',
    )
  })

  it('has a short query, and only the sign of a long one', () => {
    expect(shortenPath(`/v1/users/${id}?limit=1`)).toBe('/v1/users/user_2AbC…?limit=1')
    expect(shortenPath('/v1/users?email_address=ada%40example.com')).toBe('/v1/users?…')
  })
})

describe('what is shown of a result', () => {
  it('leaves out what is null or an empty object, at every depth, and nothing else', () => {
    const result = { data: [{ id: 1, name: null, metadata: {}, banned: false }], errors: [], count: 0 }
    expect(withoutAbsent(result)).toEqual({ data: [{ id: 1, banned: false }], errors: [], count: 0 })
  })
})
