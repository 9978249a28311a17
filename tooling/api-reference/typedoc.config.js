import { join, posix } from 'node:path'
import { ReflectionKind } from 'typedoc'
import { findPublishable, root } from '../packages/workspace.ts'

/** Each public subpath of each published package, with its source. */
const entries = findPublishable().flatMap(({ name, path, manifest }) =>
  Object.entries(manifest.exports ?? {}).map(([subpath, conditions]) => ({
    name: posix.join(name, subpath),
    source: posix.join(path, conditions['@org/source']),
  })),
)

/** Names each module by its import specifier. */
function nameModules({ converter }) {
  const names = new Map(
    entries.map(({ name, source }) => [source.replace(/^packages\/|(\/index)?\.ts$/g, ''), name]),
  )
  converter.on('resolveBegin', ({ project }) => {
    for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name
  })
}

/** Resolves a `{@link name}` to an export of another package, which the file need not import. */
function linkAcrossPackages({ converter }) {
  converter.addUnknownSymbolResolver(({ symbolReference }, reflection) => {
    const name = symbolReference?.path?.map(({ path }) => path).join('.')
    const exported = reflection.project
      .getReflectionsByKind(ReflectionKind.SomeExport)
      .find((candidate) => candidate.name === name)
    return exported && { target: exported }
  })
}

export default {
  name: 'Integration host',
  entryPoints: entries.map(({ source }) => join(root, source)),
  basePath: join(root, 'packages'),
  tsconfig: join(import.meta.dirname, 'tsconfig.json'),
  // Ignored by version control.
  out: join(root, '.data/api'),
  readme: 'none',
  disableSources: true,
  treatWarningsAsErrors: true,
  plugin: [nameModules, linkAcrossPackages],
}
