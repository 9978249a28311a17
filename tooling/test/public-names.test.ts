import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPublishable } from '../packages/workspace.ts'
import { readExportedNames, readPublicNames } from '../public-names.ts'

describe.each(findPublishable())('the public names of $name', (each) => {
  // A name more or less is a change that users notice: bring the file up to date (`vitest run -u`), and write a changeset.
  it('are those of its file in public-names, types included', async () => {
    const file = join(import.meta.dirname, '../public-names', `${each.name.replace('@org/', '')}.txt`)
    await expect(`${readPublicNames(each).join('\n')}\n`).toMatchFileSnapshot(file)
  })
})

describe('the exported names of a module', () => {
  it('are values and types, wherever they are declared', () => {
    const text = `
      export type { A } from './a.ts'
      export { b, type C } from './b.ts'
      export interface D {}
      export const e = 1
      export default e
    `
    expect(readExportedNames('index.ts', text)).toEqual(['b', 'default', 'e', 'type A', 'type C', 'type D'])
  })

  it('are all written in it', () => {
    expect(() => readExportedNames('index.ts', "export * from './a.ts'")).toThrow('export *')
  })
})
