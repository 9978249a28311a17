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
/** A slow registry that works responds within this time. */
const PROBE_MS = 20_000
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
const lock = createHash('sha256')
  .update(read(pathOf('pnpm-lock.yaml')))
  .digest('hex')

const [program, ...given] = process.argv.slice(2)
try {
  const node = await prepare()
  const main = pathOf('apps/sandbox/src', `${program}.ts`)
  // Compiled code is kept: the next start is quicker.
  const environment = { NODE_COMPILE_CACHE: pathOf('.data', 'compiled'), ...env }
  const child = spawn(node, ['--conditions=@org/source', main, ...given], {
    // The channel ends with this process, however that ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: environment,
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
  const current =
    known.lock === lock || read(pathOf('node_modules/.pnpm/lock.yaml')) === read(pathOf('pnpm-lock.yaml'))
  const isInstalled = current && existsSync(pathOf('apps/sandbox/node_modules'))
  let node = isRecent ? execPath : known.node
  if (isInstalled && existsSync(node ?? '')) return node
  if (!existsSync(node ?? '')) {
    const output = await step(`Fetching Node ${NODE_MAJOR} and pnpm, once`, 'node', '-p', 'process.execPath')
    node = output.trim().split('\n').at(-1)
  }
  if (!isInstalled) await install()
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
  await step(
    `Installing ${everything ? 'all' : 'the few'} packages that it needs, once`,
    'pnpm',
    'install',
    ...options,
  )
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
  const tell = () => `${title} … ${Math.floor((performance.now() - started) / 1000)} s`
  stdout.write(stdout.isTTY ? tell() : `${title} …\n`)
  const clock = stdout.isTTY ? setInterval(() => stdout.write(`\r${tell()}`), 1_000) : undefined
  const packages = tools.map((tool) => `--package=${tool}`)
  const child = spawnNpm('exec', '--yes', '--prefer-offline', ...packages, '--', ...command)
  // Asks for as little as possible, and knows the registry and the proxy as the real request does.
  const probe = spawnNpm('view', packageManager, 'version', '--prefer-online', '--fetch-retries=0')
  const end = () => [child, probe].forEach(kill)
  const interrupt = () => {
    end()
    process.exit(130)
  }
  process.on('SIGINT', interrupt)
  const silence = setTimeout(() => {
    stdout.write('\nThe package registry has not responded for 20 s. Still trying: is there a network?\n')
  }, PROBE_MS)
  let printed = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    clearTimeout(silence)
    printed += chunk
  })
  child.stderr.on('data', (chunk) => (errors += chunk))
  const resultOf = (one) => new Promise((resolve, reject) => one.on('error', reject).on('close', resolve))
  const isOffline = new Promise((resolve) => {
    resultOf(probe).then((code) => {
      clearTimeout(silence)
      if (code > 0) resolve('offline')
    })
  })
  try {
    const result = await Promise.race([resultOf(child), isOffline])
    if (result === 'offline') {
      throw new Error(
        'The package registry can’t be reached. The first start needs the network; later ones do not.',
      )
    }
    if (result !== 0) throw new Error(`${title} failed:\n${errors || printed}`)
    return printed
  } finally {
    end()
    clearTimeout(silence)
    clearInterval(clock)
    process.off('SIGINT', interrupt)
    if (stdout.isTTY) stdout.write('\n')
  }
}

/** Starts npm, with processes of its own that can be ended together. */
function spawnNpm(...args) {
  const ownNpm = /npm-cli\.c?js$/.test(env.npm_execpath ?? '')
  const [file, ...before] = ownNpm ? [execPath, env.npm_execpath] : ['npm']
  const options = { cwd: root, shell: !ownNpm && platform === 'win32', detached: platform !== 'win32' }
  return spawn(file, [...before, ...args], options)
}

function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  if (platform === 'win32') child.kill()
  else process.kill(-child.pid)
}
