import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPublishable } from '../packages/workspace.ts'
import { readExportedNames, readPublicNames } from '../public-names.ts'

describe.each(findPublishable())('$name', (each) => {
  // Users notice a changed name: update the file (`vitest run -u`), and write a changeset.
  it('exports the names in its file in public-names, types included', async () => {
    const file = join(import.meta.dirname, '../public-names', `${each.name.replace('@org/', '')}.txt`)
    await expect(`${readPublicNames(each).join('\n')}\n`).toMatchFileSnapshot(file)
  })

  it('exports at most 45 names from its root', () => {
    const names = readPublicNames(each).filter((name) => name.startsWith(`${each.name}:`))
    expect(names.length).toBeLessThanOrEqual(45)
  })
})

it('a module that exports * is refused, because nobody sees its names', () => {
  expect(() => readExportedNames('index.ts', "export * from './a.ts'")).toThrow('export *')
})
