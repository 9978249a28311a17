import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { programEnvironment } from './fixtures.ts'

const launch = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const program = join('apps', 'sandbox', 'launch.js')

describe('the launcher', () => {
  it('runs a program at once if everything is there', async () => {
    const { stdout } = await launch(process.execPath, [join(root, program), 'replay', '--help'])
    expect(stdout).toMatch(/^Usage: npm run replay/)
  })

  it('ends the sandbox with the process that started it', async () => {
    const start = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(join(root, program))}, 'main'], { stdio: 'inherit' })`
    const env = { ...programEnvironment, PORT: '0', SANDBOX_PORT: '0' }
    const parent = spawn(process.execPath, ['-e', start], { env })
    let printed = ''
    parent.stdout.on('data', (chunk) => {
      printed += chunk
    })
    const url = () => /Page +(http:\S+)/.exec(printed)?.[1]
    await expect.poll(() => url()).toBeDefined()
    expect((await fetch(`${url()}`)).status).toBe(200)
    parent.kill('SIGKILL')
    // Its output closes when the last process has ended.
    await once(parent, 'close')
  })

  it('says that the first start needs a network, if there is none', async () => {
    const clone = await mkdtemp(join(tmpdir(), 'sandbox-launch-'))
    onTestFinished(() => rm(clone, { recursive: true }))
    await mkdir(join(clone, 'apps', 'sandbox'), { recursive: true })
    for (const file of ['package.json', 'pnpm-lock.yaml', program])
      await cp(join(root, file), join(clone, file))
    const nowhere = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: join(clone, 'cache') }
    const env = { PATH: process.env.PATH, HOME: clone, ...nowhere }
    const started = launch(process.execPath, [join(clone, program), 'main'], { env })
    await expect(started).rejects.toMatchObject({
      code: 1,
      stdout: 'Installing the few packages that it needs, once …\n',
      stderr:
        'The package registry can’t be reached. The first start needs the network; later ones do not.\n',
    })
  })
})
