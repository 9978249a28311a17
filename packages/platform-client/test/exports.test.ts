import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

describe('the public names of', () => {
  it('the entry are these', async () => {
    expect(Object.keys(await import('@org/platform-client'))).toEqual(['createPlatformClient'])
  })

  it('the package are in no other entry', () => {
    expect(Object.keys(packageJson.exports)).toEqual(['.'])
    expect(Object.keys(packageJson.publishConfig.exports)).toEqual(['.'])
  })
})
