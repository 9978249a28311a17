import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { formsOf, type Names, rename, TEMPLATE } from './names.ts'

/** Names of private packages and of the placeholder's route. */
const reserved = new Set(['auth', TEMPLATE, 'sandbox', 'server', 'tooling'])

const INTEGRATIONS = 'apps/server/src/integrations.ts'
const CONFIG = 'apps/server/src/config.ts'

/** The lines that a new integration needs in a file, each before the first or after the last place with this text. */
interface Insertion {
  file: string
  before?: string
  after?: string
  lines: string
}

/** Everything outside the package that knows the integration by name. The formatter sorts the imports afterwards. */
function insertionsFor({ kebab, camel, pascal, constant, words }: Names): Insertion[] {
  const [token, base] = [`${constant}_SHARED_API_TOKEN`, `${constant}_API_BASE`]
  const samples = 'apps/sandbox/src/world/samples.ts'
  return [
    {
      file: INTEGRATIONS,
      before: '\n]\n',
      lines: `\n  {\n    name: '${kebab}',\n    load: async ({ ${camel} }) => withSettings(await import('@org/${kebab}/webhook'), ${camel}),\n  },`,
    },
    {
      file: CONFIG,
      before: '    /** Every value that must stay out of logs',
      lines: `    ${camel}: { shared: { apiToken: values.${token} }, baseUrl: values.${base} },\n`,
    },
    { file: CONFIG, after: '      values.IDP_SHARED_SECRET_KEY,\n', lines: `      values.${token},\n` },
    {
      file: 'apps/server/src/variables.ts',
      after: '  IDP_PLATFORM_API_BASE: z.optional(httpUrl),\n',
      lines: `\n  ${token}: z.optional(token()),\n  ${base}: z.optional(httpUrl),\n`,
    },
    {
      file: 'README.md',
      before: '| `IDP_SHARED_PUBLISHABLE_KEY` |',
      lines: `| \`${token}\` | | Token of the shared account of the ${words}. |\n| \`${base}\` | \`https://api.example.com\` | Base URL of the ${words}. |\n`,
    },
    {
      file: samples,
      after: "from '@org/core/testing'\n",
      lines: `import { createSample as create${pascal}Sample } from '@org/${kebab}/testing'\n`,
    },
    { file: samples, after: '// One line for each.\n', lines: `  create${pascal}Sample,\n` },
  ]
}

/**
 * Writes the package and its changeset, and adds it to the host and to the sandbox.
 *
 * @param repository the root of the repository
 * @param name the package and the route, for example `sms-gateway`
 * @returns the paths of the written files from the root
 * @throws if the name is invalid or taken, before anything is written
 */
export function scaffold(repository: string, name: string) {
  const names = formsOf(name)
  const read = (file: string) => readFileSync(join(repository, file), 'utf8')
  const folder = 'tooling/new-integration/template'
  const files = globSync(['*.{json,ts,md}', '{src,test}/**/*.ts'], { cwd: join(repository, folder) })
  checkName(repository, names)
  const hostFiles = insertionsFor(names).map(({ file }) => file)
  for (const file of [...files.map((each) => `${folder}/${each}`), ...hostFiles])
    if (file.endsWith('.ts')) checkUnused(names, file, read(file))

  const renamed = (file: string) => rename(read(`${folder}/${file}`), names)
  const texts: Record<string, string> = {
    ...Object.fromEntries(files.map((file) => [`packages/${name}/${file}`, renamed(file)])),
    [`packages/${name}/package.json`]: renamed('package.json').replace('  "private": true,\n', ''),
    [`.changeset/${name}.md`]: changeset(names),
  }
  for (const app of ['apps/server/package.json', 'apps/sandbox/package.json'])
    texts[app] = depend(read(app), names)
  for (const insertion of insertionsFor(names))
    texts[insertion.file] = insert(texts[insertion.file] ?? read(insertion.file), insertion)
  for (const [file, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(repository, file)), { recursive: true })
    writeFileSync(join(repository, file), text)
  }
  return Object.keys(texts)
}

function checkName(repository: string, { kebab, camel }: Names): void {
  if (reserved.has(kebab) || existsSync(join(repository, 'packages', kebab)))
    throw new Error(`The name “${kebab}” is taken.`)
  if (parseSync('name.ts', `const ${camel} = 0`).errors.length > 0)
    throw new Error(`“${kebab}” is no valid name: JavaScript already uses ${camel}.`)
}

/** Checks that no identifier or variable of a file has the name in it: it could mean something else. */
function checkUnused({ kebab, camel, pascal, constant }: Names, file: string, text: string): void {
  const [taken] = new RegExp(`\\b${camel}\\b|\\w*${pascal}\\w*|\\b${constant}_\\w*`).exec(text) ?? []
  if (taken)
    throw new Error(
      `“${kebab}” is no valid name: ${file} already uses ${taken}. Add a word, as in ${kebab}-gateway.`,
    )
}

function insert(text: string, { file, before = '', after = '', lines }: Insertion): string {
  const found = before ? text.indexOf(before) : text.lastIndexOf(after)
  if (found < 0) throw new Error(`${file} has an unknown form: it has no “${(before + after).trim()}”.`)
  const at = found + after.length
  return text.slice(0, at) + lines + text.slice(at)
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
