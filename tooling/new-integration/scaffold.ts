/**
 * Makes the package of a new integration out of the template, and mounts it on the host.
 *
 * @module
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { formsOf, type Names, rename } from './names.ts'

/** Names that are taken: the other packages of the scope, and the route of the placeholder. */
const reserved = new Set(['api-reference', 'auth', 'example-service', 'sandbox', 'server', 'tooling'])

const INTEGRATIONS = 'apps/server/src/integrations.ts'
const SERVER = 'apps/server/package.json'

/**
 * Writes the package, its line in the host's list of integrations, and its line in the host's package.json.
 *
 * @param repository the root of the repository
 * @param name of the package and of the route, for example `sms-gateway`
 * @returns the files that were written, from the root
 * @throws where the name can't be taken; nothing is written then
 */
export function scaffold(repository: string, name: string): string[] {
  const names = formsOf(name)
  const source = readFileSync(join(repository, INTEGRATIONS), 'utf8')
  checkName(repository, names, source)

  const template = join(repository, 'tooling/new-integration/template')
  const files = globSync(['*.{json,ts,md}', '{src,test}/**/*.ts'], { cwd: template }).sort()
  const written = files.map((file) => {
    const text = rename(readFileSync(join(template, file), 'utf8'), names)
    return write(`packages/${name}/${file}`, file === 'package.json' ? withoutPrivate(text) : text)
  })

  function write(file: string, text: string): string {
    mkdirSync(dirname(join(repository, file)), { recursive: true })
    writeFileSync(join(repository, file), text)
    return file
  }

  return [
    ...written,
    write(INTEGRATIONS, mount(source, names)),
    write(SERVER, depend(readFileSync(join(repository, SERVER), 'utf8'), names)),
    write(`.changeset/first-${name}.md`, changeset(names)),
  ]
}

function checkName(repository: string, { kebab, camel }: Names, integrations: string): void {
  if (reserved.has(kebab) || existsSync(join(repository, 'packages', kebab))) {
    throw new Error(`There is a “${kebab}” already.`)
  }
  const isTaken = new RegExp(`\\b${camel}\\b`).test(integrations)
  if (isTaken || parseSync('name.ts', `const ${camel} = 0`).errors.length > 0) {
    throw new Error(
      `“${kebab}” can’t be a name: ${camel} means something in ${INTEGRATIONS}, or in the language.`,
    )
  }
}

function withoutPrivate(packageJson: string): string {
  return packageJson.replace('  "private": true,\n', '')
}

/** The formatter sorts the imports afterwards. */
function mount(integrations: string, { kebab, camel, pascal }: Names): string {
  const end = integrations.lastIndexOf('\n]')
  const lastImport = integrations.lastIndexOf('\nimport type { Config }')
  if (end < 0 || lastImport < 0)
    throw new Error(`${INTEGRATIONS} is not as it was: add the integration by hand.`)
  const imported = `\nimport { createHandler as create${pascal}Handler, integration as ${camel} } from '@org/${kebab}/webhook'`
  const line = `\n  { definition: ${camel}, createHandler: create${pascal}Handler },`
  return (
    integrations.slice(0, lastImport) +
    imported +
    integrations.slice(lastImport, end) +
    line +
    integrations.slice(end)
  )
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
