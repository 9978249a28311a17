/**
 * Writes an integration outside of this repository, as another author would: from the packed packages, with tsup and
 * vitest; packs it, and mounts it in our host and in other frameworks. `node tooling/outside/main.ts` prints a line for
 * each step. It needs `pnpm build`.
 */
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { makeFolder, startListening } from '../../bench/shared/processes.ts'
import { formsOf, rename } from '../new-integration/names.ts'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { root } from '../packages/workspace.ts'

const folder = makeFolder()
const author = join(folder, 'author')
const user = join(folder, 'user')
const ownTarball = join(author, 'acme-carrier-pigeon-1.0.0.tgz')

async function step(title: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now()
  await work()
  console.log(`ok  ${title}  ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

/** Runs a command line in the author's project, and throws with its output. */
async function run(line: string): Promise<void> {
  const [command = '', ...options] = line.split(' ')
  await promisify(execFile)(command, options, { cwd: author }).catch((error) => {
    throw new Error(`${line}\n${error.stdout}${error.stderr}`)
  })
}

/** The template under another scope, with a configuration of its own. */
function writeIntegration(): void {
  const template = join(root, 'tooling/new-integration/template')
  const names = formsOf('carrier-pigeon')
  const copied = ['src/**/*.ts', 'test/{client.test,integration.test,fixture}.ts']
  for (const file of globSync(copied, { cwd: template })) {
    const text = rename(readFileSync(join(template, file), 'utf8'), names)
    mkdirSync(dirname(join(author, file)), { recursive: true })
    writeFileSync(join(author, file), text.replaceAll('@org/carrier', '@acme/carrier'))
  }
  const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })
  const manifest = {
    name: '@acme/carrier-pigeon',
    version: '1.0.0',
    type: 'module',
    files: ['dist'],
    exports: { '.': entry('index'), './webhook': entry('webhook'), './testing': entry('testing/index') },
  }
  const module = { target: 'es2023', module: 'nodenext', allowImportingTsExtensions: true }
  const compilerOptions = { ...module, strict: true, noEmit: true }
  writeFileSync(join(author, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(author, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
}

async function startHost(environment: Record<string, string>): Promise<string> {
  cpSync(join(root, 'apps/server/dist/node'), join(user, 'host'), { recursive: true })
  const options = { cwd: user, environment: { ...environment, PORT: '0' } }
  return (await startListening('host/node.mjs', options)).url
}

const entries = 'src/index.ts src/webhook.ts src/testing/index.ts'

try {
  const ours = (await packAll(folder)).map(({ tarball }) => tarball)
  await step('an empty project installs our packages', () =>
    installInto(author, [...ours, 'zod', 'tsup', 'vitest', 'typescript@5.9', '@types/node']),
  )
  writeIntegration()
  await step('the types of an integration are right', () => run('npx tsc'))
  await step('it passes the conformance suite', () => run('npx vitest run'))
  await step('tsup builds it', () => run(`npx tsup ${entries} --format esm --dts --silent`))
  await step('npm packs it', () => run('npm pack'))
  await step('a host installs it', () =>
    installInto(user, [...ours, ownTarball, 'zod', 'hono', '@hono/node-server', 'express']),
  )
  cpSync(join(import.meta.dirname, 'mounts.mjs'), join(user, 'mounts.mjs'))
  const { mounts, call } = await import(pathToFileURL(join(user, 'mounts.mjs')).href)
  const all: Record<string, typeof fetch> = await mounts(startHost)
  for (const [name, mount] of Object.entries(all))
    await step(`mounted in ${name}, it answers signed events alone`, async () => {
      const statuses = [(await mount(await call())).status, (await mount(await call(false))).status]
      if (statuses.join() !== '200,401') throw new Error(`${name}: ${statuses}`)
    })
} catch (error) {
  console.log(`FAILED  ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
// The servers of the frameworks listen on.
process.exit()
