import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { serve } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finish, programEnvironment, serveForTest } from './fixtures.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const main = join(root, 'apps/sandbox/src/main.ts')
const launcher = join(root, 'apps/sandbox/launch.js')
const onFreePorts = { ...programEnvironment, PORT: '0', SANDBOX_PORT: '0' }

async function folderForTest() {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** The sandbox as its own process, as `npm start` runs it. */
function start(given: string[] = [], environment: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, ['--conditions=@org/source', main, ...given], {
    env: { ...onFreePorts, ...environment },
  })
}

/** The output of a process so far. */
function outputOf(child: ReturnType<typeof spawn>) {
  let printed = ''
  child.stdout?.on('data', (chunk) => {
    printed += chunk
  })
  return () => printed
}

const pageIn = (printed: string) => /Page +(http:\S+)[\s\S]*Ctrl-C/.exec(printed)?.[1]

describe('the command', () => {
  it.each([
    ['its usage', ['--help'], {}, /^Usage: npm start/, 0],
    ['an unknown option', ['--twice'], {}, /^Unknown option '--twice'\n$/, 1],
    [
      'an invalid port',
      [],
      { SANDBOX_PORT: 'three' },
      /^SANDBOX_PORT: expected a port from 0 to 65535\.\n$/,
      1,
    ],
    ['an invalid variable of the host', [], { PORT: 'three' }, /PORT: expected a port/, 1],
    ['a walk with --once, without colours', ['--', '--once'], {}, /steps passed, 0 failed · \S+ s\n$/, 0],
  ])('prints %s, and ends', async (_, given, environment, printed, code) => {
    const { output, errors, code: found } = await finish(start(given, environment))
    const [expected, other] = code === 0 ? [output, errors] : [errors, output]
    expect([found, other]).toEqual([code, ''])
    expect(expected).toMatch(printed)
    expect(output).not.toContain('\u001b')
  })

  it('explains in one line that a chosen port is taken', async () => {
    const { port } = await serveForTest(async () => new Response())
    const { output, errors, code } = await finish(start([], { SANDBOX_PORT: String(port) }))
    expect(errors).toMatch(new RegExp(`^The page .* port ${port}: something else listens there.*\n$`))
    expect([output, code]).toEqual(['', 1])
  })

  it('keeps running with a page until Ctrl-C, on the next free ports if the usual ones are taken', async () => {
    // Somebody else may have taken them already.
    for (const port of [3009, 3010]) {
      const server = await serve(async () => new Response(), { port }).catch(() => undefined)
      if (server) onTestFinished(server.close)
    }
    const child = start([], { PORT: '', SANDBOX_PORT: '' })
    const printed = outputOf(child)
    await expect.poll(() => pageIn(printed())).toBeDefined()
    expect(await (await fetch(String(pageIn(printed())))).text()).toContain('Every event takes effect once')
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(printed()).toMatch(/^3009 is taken \(another sandbox\?\).*\n3010 is taken/)
  })
})

describe('the launcher', () => {
  it('runs a program at once if everything is there', async () => {
    const { output } = await finish(spawn(process.execPath, [launcher, 'replay', '--help']))
    expect(output).toMatch(/^Usage: npm run replay/)
  })

  it('ends the sandbox with the process that started it', async () => {
    const program = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(launcher)}, 'main'], { stdio: 'inherit' })`
    const parent = spawn(process.execPath, ['-e', program], { env: onFreePorts })
    const printed = outputOf(parent)
    await expect.poll(() => pageIn(printed())).toBeDefined()
    parent.kill('SIGKILL')
    // Its output closes when the last process has ended.
    await once(parent, 'close')
  })

  it('says that the first start needs a network, if there is none', async () => {
    const clone = await folderForTest()
    await mkdir(join(clone, 'apps', 'sandbox'), { recursive: true })
    for (const file of ['package.json', 'pnpm-lock.yaml', 'apps/sandbox/launch.js'])
      await cp(join(root, file), join(clone, file))
    const nowhere = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: join(clone, 'cache') }
    const env = { PATH: process.env.PATH, HOME: clone, ...nowhere }
    const program = join(clone, 'apps/sandbox/launch.js')
    const started = promisify(execFile)(process.execPath, [program, 'main'], { env })
    await expect(started).rejects.toMatchObject({
      code: 1,
      stdout: 'Installing the few packages that it needs, once …\n',
      stderr:
        'The package registry can’t be reached. The first start needs the network; later ones do not.\n',
    })
  })
})
