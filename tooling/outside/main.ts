/**
 * Writes an integration outside of this repository, as another author would: from the packed packages, with tsup and
 * vitest; publishes it, and mounts it in our host and in other frameworks. `node tooling/outside/main.ts` prints a line
 * for each step. It needs `pnpm build`.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { toGatewayEvent, toResponse } from '../../bench/deployments/lambda-gateway.ts'
import { launchNode } from '../../bench/shared/processes.ts'
import { formsOf, rename } from '../new-integration/names.ts'
import { packAll } from '../packages/pack.ts'
import { root } from '../packages/workspace.ts'
import { startRegistry } from './registry.ts'

const folder = mkdtempSync(join(tmpdir(), 'outside-'))
const author = join(folder, 'author')
const user = join(folder, 'user')
const registry = await startRegistry()
const npmrc = `${registry.settings('@org', '@acme')}\naudit=false\nfund=false\nprefer-offline=true\nloglevel=error\n`

/** Runs a command line in a folder, and throws with its output. */
async function run(cwd: string, line: string): Promise<void> {
  const [command = '', ...options] = line.split(' ')
  // Of `pnpm`, which may have started this.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_/i.test(name)))
  await promisify(execFile)(command, options, { cwd, env, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${line}\n${error.stdout}${error.stderr}`)
  })
}

async function step(title: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now()
  await work()
  console.log(`ok  ${title}  ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

function write(file: string, content: string | object): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}

/** The template under another scope, with a configuration of its own. */
function writeIntegration(): void {
  const template = join(root, 'tooling/new-integration/template')
  const names = formsOf('carrier-pigeon')
  for (const file of globSync(
    ['src/**/*.ts', 'test/{client.test,integration.test,fixture}.ts', 'README.md'],
    { cwd: template },
  ))
    write(
      join(author, file),
      rename(readFileSync(join(template, file), 'utf8'), names).replaceAll('@org/carrier', '@acme/carrier'),
    )
  const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })
  write(join(author, 'package.json'), {
    name: '@acme/carrier-pigeon',
    version: '1.0.0',
    type: 'module',
    files: ['dist'],
    exports: { '.': entry('index'), './webhook': entry('webhook'), './testing': entry('testing/index') },
  })
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  }
  write(join(author, 'tsconfig.json'), { compilerOptions })
}

/** Publishes our packages with the script of a release. */
async function release(): Promise<void> {
  const packages = await packAll(folder)
  const plan = packages.map(({ name, manifest: { version }, tarball }) => {
    const digest = createHash('sha256').update(readFileSync(tarball)).digest('base64')
    const path = tarball.slice(folder.length + 1)
    return { kind: 'publish', name, version, tag: 'latest', tarball: { path, integrity: `sha256-${digest}` } }
  })
  write(join(folder, 'publish-plan.json'), { plan: [plan] })
  await run(folder, `node ${join(root, 'tooling/release/publish.ts')} .`)
}

async function startHost(environment: Record<string, string>): Promise<string> {
  cpSync(join(root, 'apps/server/dist/node'), join(user, 'host'), { recursive: true })
  const host = launchNode('host/node.mjs', { cwd: user, environment: { ...environment, PORT: '0' } })
  const [, port] = await host.line(/"port":(\d+)/)
  return `http://127.0.0.1:${port}`
}

const entries = 'src/index.ts src/webhook.ts src/testing/index.ts'
const developing = 'tsup vitest typescript@5.9 @types/node'

try {
  for (const each of [folder, author, user]) write(join(each, '.npmrc'), npmrc)
  write(join(user, 'package.json'), { private: true, type: 'module' })
  cpSync(join(import.meta.dirname, 'mounts.mjs'), join(user, 'mounts.mjs'))
  await step('our packages are published', release)
  writeIntegration()
  await step('an empty project installs them', async () => {
    await run(author, 'npm install @org/core zod')
    await run(author, `npm install --save-dev ${developing}`)
  })
  await step('the types of an integration are right', () => run(author, 'npx tsc'))
  await step('it passes the conformance suite', () => run(author, 'npx vitest run'))
  await step('tsup builds it', () => run(author, `npx tsup ${entries} --format esm --dts --silent`))
  await step('it is published', () => run(author, 'npm publish --access public'))
  await step('a host installs it', () =>
    run(
      user,
      'npm install @acme/carrier-pigeon @org/core @org/platform-client zod hono @hono/node-server express',
    ),
  )
  const { mounts, call } = await import(pathToFileURL(join(user, 'mounts.mjs')).href)
  const all: Record<string, typeof fetch> = await mounts(startHost, { toEvent: toGatewayEvent, toResponse })
  for (const [name, mount] of Object.entries(all))
    await step(`mounted in ${name}, it answers signed events alone`, async () => {
      const statuses = [(await mount(await call())).status, (await mount(await call(false))).status]
      if (statuses.join() !== '200,401') throw new Error(`${name}: ${statuses}`)
    })
} catch (error) {
  console.log(`FAILED  ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}
