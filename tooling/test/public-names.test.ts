import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPublishable } from '../packages/workspace.ts'
import { readExportedNames, readPublicNames } from '../public-names.ts'

describe.each(findPublishable())('$name', (each) => {
  it('exports the names in its file in public-names, types included', async () => {
    const file = join(import.meta.dirname, '../public-names', `${each.name.replace('@org/', '')}.txt`)
    const advice =
      'A name that is gone breaks users: its changeset is “minor” below 1.0.0, and “major” from then on. A new one is “patch”, and “minor” from 1.0.0 on. Then update the file: vitest run -u'
    await expect(`${readPublicNames(each).join('\n')}\n`, advice).toMatchFileSnapshot(file)
  })

  it('exports at most 45 names from its root', () => {
    const names = readPublicNames(each).filter((name) => name.startsWith(`${each.name}:`))
    expect(names.length).toBeLessThanOrEqual(45)
  })
})

it('a module that exports * is refused, because nobody sees its names', () => {
  expect(() => readExportedNames('index.ts', "export * from './a.ts'")).toThrow('export *')
})
