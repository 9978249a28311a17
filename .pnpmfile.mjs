import { relative } from 'node:path'
import workspace from './package.json' with { type: 'json' }

/**
 * Completes the `package.json` of a tarball: it names the repository, no source in `exports`, and nothing that is for
 * this repository alone, such as packages that nobody publishes.
 */
function beforePacking({ devDependencies: _, scripts: _own, ...manifest }, folder) {
  const { author, repository } = workspace
  const page = repository.url.replaceAll(/^git\+|\.git$/g, '')
  const directory = relative(import.meta.dirname, folder)
  const withoutSource = (conditions) =>
    Object.fromEntries(Object.entries(conditions).filter(([, file]) => file.startsWith('./dist/')))
  const exports = Object.entries(manifest.exports).map(([subpath, conditions]) => [
    subpath,
    withoutSource(conditions),
  ])
  return {
    ...manifest,
    author,
    homepage: `${page}/tree/main/${directory}#readme`,
    bugs: `${page}/issues`,
    repository: { ...repository, directory },
    exports: Object.fromEntries(exports),
  }
}

export const hooks = { beforePacking }
