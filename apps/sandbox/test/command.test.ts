import { once } from 'node:events'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { serve } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finish, folderForTest, root, serveForTest, startNode, startProgram } from './fixtures.ts'

const launcher = 'apps/sandbox/launch.js'

/** Waits for the invitation of a process, and returns what it printed until then, and the URL of the page. */
async function invitationOf({ stdout }: ReturnType<typeof startNode>) {
  let printed = ''
  stdout.on('data', (chunk) => {
    printed += chunk
  })
  const page = () => /Page +(http:\S+)[\s\S]*Ctrl-C/.exec(printed)?.[1]
  await expect.poll(page).toBeDefined()
  return { printed, page: String(page()) }
}

describe('the command', () => {
  it.each<[string, string[], NodeJS.ProcessEnv, RegExp, number]>([
    ['its usage', ['--help'], {}, /^Usage: npm start/, 0],
    ['an unknown option', ['--twice'], {}, /^Unknown option '--twice'\n$/, 1],
    ['an invalid port', [], { SANDBOX_PORT: 'x' }, /^SANDBOX_PORT: expected a port from 0 to 65535\.\n$/, 1],
    ['an invalid variable of the host', [], { PORT: 'three' }, /PORT: expected a port/, 1],
    ['a walk with --once, without colours', ['--', '--once'], {}, /steps passed, 0 failed · \S+ s\n$/, 0],
  ])('prints %s, and ends', async (_, given, environment, printed, code) => {
    const { output, errors, code: found } = await finish(startProgram('main', given, environment))
    const [expected, other] = code === 0 ? [output, errors] : [errors, output]
    expect([found, other]).toEqual([code, ''])
    expect(expected).toMatch(printed)
    expect(output).not.toContain('\u001b')
  })

  it('explains in one line that a chosen port is taken', async () => {
    const { port } = await serveForTest(async () => new Response())
    const { output, errors, code } = await finish(startProgram('main', [], { SANDBOX_PORT: String(port) }))
    expect(errors).toMatch(new RegExp(`^The page .* port ${port}: something else listens there.*\n$`))
    expect([output, code]).toEqual(['', 1])
  })

  it('keeps running with a page until Ctrl-C, on the next free ports if the usual ones are taken', async () => {
    // Somebody else may have taken them already.
    for (const port of [3009, 3010]) {
      const server = await serve(async () => new Response(), { port }).catch(() => undefined)
      if (server) onTestFinished(server.close)
    }
    const child = startProgram('main', [], { PORT: '', SANDBOX_PORT: '' })
    const { printed, page } = await invitationOf(child)
    expect(await (await fetch(page)).text()).toContain('Every event takes effect once')
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(printed).toMatch(/^3009 is taken \(another sandbox\?\).*\n3010 is taken/)
  })
})

describe('the launcher', () => {
  it('runs a program at once if everything is there', async () => {
    const { output } = await finish(startNode([join(root, launcher), 'replay', '--help']))
    expect(output).toMatch(/^Usage: npm run replay/)
  })

  it('ends the sandbox with the process that started it', async () => {
    const started = JSON.stringify([join(root, launcher), 'main'])
    const program = `require('node:child_process').spawn(process.execPath, ${started}, { stdio: 'inherit' })`
    const parent = startNode(['-e', program])
    await invitationOf(parent)
    parent.kill('SIGKILL')
    // Its output closes when the last process has ended.
    await once(parent, 'close')
  })

  it('says that the first start needs a network, if there is none', async () => {
    const clone = await folderForTest()
    await mkdir(join(clone, 'apps', 'sandbox'), { recursive: true })
    for (const file of ['package.json', 'pnpm-lock.yaml', launcher])
      await cp(join(root, file), join(clone, file))
    const nowhere = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: join(clone, 'cache') }
    expect(await finish(startNode([join(clone, launcher), 'main'], { HOME: clone, ...nowhere }))).toEqual({
      code: 1,
      output: 'Installing the few packages that it needs, once …\n',
      errors:
        'The package registry can’t be reached. The first start needs the network; later ones do not.\n',
    })
  })
})
