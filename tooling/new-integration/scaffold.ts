import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formsOf, type Names, rename, TEMPLATE } from './names.ts'

/** Names of private packages and of the placeholder's route. */
const reserved = new Set('auth bench example-migration openapi-checks sandbox server tooling'.split(' '))

const INTEGRATIONS = 'apps/server/src/integrations.ts'
const SERVER = 'apps/server/package.json'
/** Each new line stands before this one. */
const PLACE = '  // Further packages, a line for each.\n'

/**
 * Writes the package and its changeset, and adds it to the host.
 *
 * @param repository the root of the repository
 * @param name the package and the route, for example `sms-gateway`
 * @returns the paths of the written files from the root
 * @throws if the name is invalid, taken, or a word of the language, before anything is written
 */
export function scaffold(repository: string, name: string) {
  const names = formsOf(name)
  if (name === TEMPLATE || reserved.has(name) || name in {} || existsSync(join(repository, 'packages', name)))
    throw new Error(`The name “${name}” is taken.`)
  new Function(`'use strict'; let ${names.camel}`) // Throws for a word of the language.
  const read = (file: string) => readFileSync(join(repository, file), 'utf8')
  const folder = 'tooling/new-integration/template'
  const files = globSync(['*.{json,ts,md}', '{src,test}/**/*.ts'], { cwd: join(repository, folder) })

  const renamed = (file: string) => rename(read(`${folder}/${file}`), names)
  const texts: Record<string, string> = {
    ...Object.fromEntries(files.map((file) => [`packages/${name}/${file}`, renamed(file)])),
    [`packages/${name}/package.json`]: renamed('package.json').replace('  "private": true,\n', ''),
    [`.changeset/${name}.md`]: changeset(names),
    [INTEGRATIONS]: mount(read(INTEGRATIONS), name),
    [SERVER]: depend(read(SERVER), name),
  }
  for (const [file, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(repository, file)), { recursive: true })
    writeFileSync(join(repository, file), text)
  }
  return Object.keys(texts)
}

function mount(text: string, name: string): string {
  if (!text.includes(PLACE))
    throw new Error(`${INTEGRATIONS} has an unknown form: it has no “${PLACE.trim()}”.`)
  const line = `  { name: '${name}', load: () => import('@org/${name}/webhook') },\n`
  return text.replace(PLACE, line + PLACE)
}

function depend(packageJson: string, name: string): string {
  const parsed: { dependencies: Record<string, string> } = JSON.parse(packageJson)
  const dependencies = { ...parsed.dependencies, [`@org/${name}`]: 'workspace:*' }
  const sorted = Object.entries(dependencies).sort(([one], [other]) => (one < other ? -1 : 1))
  return `${JSON.stringify({ ...parsed, dependencies: Object.fromEntries(sorted) }, null, 2)}\n`
}

function changeset({ kebab, words }: Names): string {
  return `---\n"@org/${kebab}": minor\n---\n\nUse the ${words} as a client and through a webhook.\n`
}
