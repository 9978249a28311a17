import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { formsOf, type Names, rename } from './names.ts'

/** Names of private packages and of the placeholder's route. */
const reserved = new Set(['api-reference', 'auth', 'example-service', 'sandbox', 'server', 'tooling'])

const INTEGRATIONS = 'apps/server/src/integrations.ts'
const SERVER = 'apps/server/package.json'

/**
 * Writes the package and its changeset, and adds it to the host's list of integrations and `package.json`.
 *
 * @param repository the root of the repository
 * @param name the package and the route, for example `sms-gateway`
 * @returns the paths of the written files, from the root
 * @throws if the name is invalid or taken, before anything is written
 */
export function scaffold(repository: string, name: string): string[] {
  const names = formsOf(name)
  const source = readFileSync(join(repository, INTEGRATIONS), 'utf8')
  checkName(repository, names, source)

  const template = join(repository, 'tooling/new-integration/template')
  const renamed = (file: string) => rename(readFileSync(join(template, file), 'utf8'), names)
  const files = globSync(['*.{json,ts,md}', '{src,test}/**/*.ts'], { cwd: template })
  const texts: Record<string, string> = {
    ...Object.fromEntries(files.map((file) => [`packages/${name}/${file}`, renamed(file)])),
    [`packages/${name}/package.json`]: renamed('package.json').replace('  "private": true,\n', ''),
    [INTEGRATIONS]: mount(source, names),
    [SERVER]: depend(readFileSync(join(repository, SERVER), 'utf8'), names),
    [`.changeset/first-${name}.md`]: changeset(names),
  }
  for (const [file, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(repository, file)), { recursive: true })
    writeFileSync(join(repository, file), text)
  }
  return Object.keys(texts)
}

function checkName(repository: string, { kebab, camel }: Names, integrations: string): void {
  if (reserved.has(kebab) || existsSync(join(repository, 'packages', kebab))) {
    throw new Error(`The name “${kebab}” is taken.`)
  }
  const isTaken = new RegExp(`\\b${camel}\\b`).test(integrations)
  if (isTaken || parseSync('name.ts', `const ${camel} = 0`).errors.length > 0) {
    throw new Error(`“${kebab}” is no valid name: ${INTEGRATIONS} or JavaScript already uses ${camel}.`)
  }
}

/** The formatter sorts the imports afterwards. */
function mount(integrations: string, { kebab, camel, pascal }: Names): string {
  const end = integrations.lastIndexOf('\n]')
  const lastImport = integrations.lastIndexOf('\nimport type { Config }')
  if (end < 0 || lastImport < 0)
    throw new Error(`${INTEGRATIONS} has an unknown form. Add the integration by hand.`)
  const imported = `\nimport { createHandler as create${pascal}Handler, integration as ${camel} } from '@org/${kebab}/webhook'`
  const line = `\n  { definition: ${camel}, createHandler: create${pascal}Handler },`
  const list = integrations.slice(lastImport, end)
  return integrations.slice(0, lastImport) + imported + list + line + integrations.slice(end)
}

function depend(packageJson: string, { kebab }: Names): string {
  const parsed: { dependencies: Record<string, string> } = JSON.parse(packageJson)
  const dependencies = { ...parsed.dependencies, [`@org/${kebab}`]: 'workspace:*' }
  const sorted = Object.entries(dependencies).sort(([one], [other]) => (one < other ? -1 : 1))
  return `${JSON.stringify({ ...parsed, dependencies: Object.fromEntries(sorted) }, null, 2)}\n`
}

function changeset({ kebab, words }: Names): string {
  return `---\n"@org/${kebab}": minor\n---\n\nUse the ${words} as a client and through a webhook.\n`
}
