import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { ReflectionKind } from 'typedoc'

const root = join(import.meta.dirname, '../..')

/** Each public subpath of each package that is published, with the source behind it. */
const entries = globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
  const manifest = JSON.parse(readFileSync(join(root, file), 'utf8'))
  if (manifest.private) return []
  return Object.entries(manifest.exports).map(([subpath, conditions]) => ({
    name: posix.join(manifest.name, subpath),
    source: posix.join(dirname(file), conditions['@org/source']),
  }))
})

/** Modules are called what they are imported by. */
function nameModules({ converter }) {
  const names = new Map(
    entries.map(({ name, source }) => [source.replace(/^packages\/|(\/index)?\.ts$/g, ''), name]),
  )
  converter.on('resolveBegin', ({ project }) => {
    for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name
  })
}

/** A `{@link name}` may name what another package exports, which its own file does not import. */
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
