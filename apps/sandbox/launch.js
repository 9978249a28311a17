/**
 * `npm start` and `npm run replay`, on any Node from 20 on. The first time, it brings what the sandbox needs: Node,
 * pnpm, and only the packages that run. It has no dependencies, because it runs before there are any.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE = '24.21.0'
const NODE_MAJOR = Number.parseInt(NODE, 10)
/** The first Node that runs TypeScript without a flag. */
const OLDEST = [22, 18]
/** What npm and pnpm say if the registry can’t be reached. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT/
const { env, execPath, platform, stdout, versions } = process
const root = fileURLToPath(new URL('../..', import.meta.url))
const pathOf = (...names) => join(root, ...names)
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')
const { packageManager } = JSON.parse(read(pathOf('package.json')))
const [major, minor] = versions.node.split('.').map(Number)
const isRecent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
const tools = isRecent ? [packageManager] : [`node@${NODE}`, packageManager]
/** What an earlier start brought. */
const memory = pathOf('.data', 'launch.json')
const lockfile = read(pathOf('pnpm-lock.yaml'))
const lock = createHash('sha256').update(lockfile).digest('hex')

const [program, ...given] = process.argv.slice(2)
try {
  const node = await prepare()
  const main = pathOf('apps/sandbox/src', `${program}.ts`)
  const child = spawn(node, ['--conditions=@org/source', main, ...given], {
    // The channel ends with this process, however that ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Compiled code is kept: the next start is quicker.
    env: { NODE_COMPILE_CACHE: pathOf('.data', 'compiled'), ...env },
  })
  // Whoever kills npm means the program.
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill(), 500).unref()
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => process.exit(code ?? 1))
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** @returns the path of a Node that runs the sandbox */
async function prepare() {
  const known = JSON.parse(read(memory) || '{}')
  const isCurrent = known.lock === lock || read(pathOf('node_modules/.pnpm/lock.yaml')) === lockfile
  let node = isRecent ? execPath : known.node
  if (!existsSync(node ?? '')) {
    const output = await step(`Fetching Node ${NODE_MAJOR} and pnpm, once`, 'node', '-p', 'process.execPath')
    node = output.trim().split('\n').at(-1)
  }
  if (!isCurrent || !existsSync(pathOf('apps/sandbox/node_modules'))) await install()
  mkdirSync(pathOf('.data'), { recursive: true })
  writeFileSync(memory, JSON.stringify({ node: isRecent ? undefined : node, lock }))
  return node
}

/** Installs what runs; where a developer has installed everything, everything. */
async function install() {
  const everything = /"devDependencies": true/.test(read(pathOf('node_modules/.modules.yaml')))
  const part = everything ? [] : ['--prod', '--filter', '@org/sandbox...']
  // The lockfile was checked when it was written. Checking the age of all its 500 packages again takes a minute.
  const asLocked = ['--frozen-lockfile', '--config.minimum-release-age=0']
  const options = [...asLocked, '--prefer-offline', '--reporter=append-only', ...part]
  const packages = everything ? 'all packages' : 'the few packages that it needs'
  await step(`Installing ${packages}, once`, 'pnpm', 'install', ...options)
  if (everything) return
  // The packages leave zod to whoever installs them.
  const link = pathOf('packages/node_modules/zod')
  rmSync(link, { recursive: true, force: true })
  mkdirSync(pathOf('packages/node_modules'), { recursive: true })
  symlinkSync(pathOf('node_modules/.pnpm/node_modules/zod'), link, 'junction')
}

/**
 * Runs a program with the tools, and tells how long it takes.
 *
 * @returns what it prints
 * @throws {Error} if it fails, or if it needs a network that is not there
 */
async function step(title, ...command) {
  const started = performance.now()
  const tell = () => stdout.write(`\r${title} … ${Math.floor((performance.now() - started) / 1000)} s`)
  if (!stdout.isTTY) stdout.write(`${title} …\n`)
  const clock = stdout.isTTY ? setInterval(tell, 1_000) : undefined
  const packages = tools.map((tool) => `--package=${tool}`)
  const ownNpm = /npm-cli\.c?js$/.test(env.npm_execpath ?? '')
  const [file, ...before] = ownNpm ? [execPath, env.npm_execpath] : ['npm']
  const child = spawn(file, [...before, 'exec', '--yes', '--prefer-offline', ...packages, '--', ...command], {
    cwd: root,
    shell: !ownNpm && platform === 'win32',
    // Without a network, nobody waits for the usual retries.
    env: { npm_config_fetch_retries: '1', npm_config_fetch_retry_mintimeout: '1000', ...env },
  })
  let printed = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const interrupt = () => child.kill()
  process.on('SIGINT', interrupt)
  try {
    const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
    if (code === 0) return printed
    if (!OFFLINE.test(errors + printed)) throw new Error(`${title} failed:\n${errors || printed}`)
    throw new Error(
      'The package registry can’t be reached. The first start needs the network; later ones do not.',
    )
  } finally {
    clearInterval(clock)
    process.off('SIGINT', interrupt)
    if (stdout.isTTY) stdout.write('\n')
  }
}
