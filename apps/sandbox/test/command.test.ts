import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { serve } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { programEnvironment, serveForTest } from './fixtures.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The sandbox as its own process, as `npm start` runs it. */
function start(given: string[] = [], environment: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, ['--conditions=@org/source', main, ...given], {
    env: { ...programEnvironment, PORT: '0', SANDBOX_PORT: '0', ...environment },
  })
}

async function finish(child: ReturnType<typeof start>) {
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { output, errors, code }
}

describe('the command', () => {
  it('prints its usage, and refuses an unknown option and an invalid port in one line', async () => {
    const { output, code } = await finish(start(['--help']))
    expect([output.slice(0, 16), code]).toEqual(['Usage: npm start', 0])
    expect(await finish(start(['--twice']))).toEqual({
      output: '',
      errors: "Unknown option '--twice'\n",
      code: 1,
    })
    const { errors } = await finish(start([], { SANDBOX_PORT: 'three' }))
    expect(errors).toBe('SANDBOX_PORT: expected a port from 0 to 65535.\n')
  })

  it('ends after the walk with --once, without colours if the output is no terminal', async () => {
    const { output, errors, code } = await finish(start(['--', '--once']))
    expect(output).toMatch(/\d+ steps passed, 0 failed/)
    expect(output).not.toContain('\u001b')
    expect(output).not.toContain('Ctrl-C')
    expect(errors).toBe('')
    expect(code).toBe(0)
  })

  it('keeps running with a page until Ctrl-C, on the next free ports if the usual ones are taken', async () => {
    // Somebody else may have taken them already.
    for (const port of [3009, 3010]) {
      const server = await serve(async () => new Response(), { port }).catch(() => undefined)
      if (server) onTestFinished(server.close)
    }
    const child = start([], { PORT: '', SANDBOX_PORT: '' })
    let printed = ''
    let title: Promise<string> = Promise.resolve('')
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const url = /Page +(http:\S+)/.exec(printed)?.[1]
      if (url === undefined || !printed.includes('Ctrl-C')) return
      child.stdout.removeAllListeners('data').resume()
      title = fetch(url)
        .then((response) => response.text())
        .finally(() => child.kill('SIGINT'))
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(printed).toMatch(/^3009 is taken \(another sandbox\?\).*\n3010 is taken/)
    expect(printed).not.toContain('press o')
    expect(await title).toContain('<h1>Every event takes effect once</h1>')
  })

  it('opens the page with the key o, and ends with Ctrl-C, in a terminal', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sandbox-browser-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${folder}/opened\n`, { mode: 0o755 })
    const command = `${process.execPath} --conditions=@org/source ${main}`
    const PATH = `${folder}:${process.env.PATH}`
    const environment = { ...programEnvironment, PATH, PORT: '0', SANDBOX_PORT: '0' }
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: environment })
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    const opened = () => readFile(join(folder, 'opened'), 'utf8').catch(() => '')
    await expect.poll(() => printed).toContain('Ctrl-C')
    // The terminal may pass on no key yet that is pressed in this moment.
    const press = () => {
      child.stdin.write('o')
      return opened()
    }
    await expect.poll(press).toMatch(/^http:\/\/localhost:\d+\n$/)
    expect(printed).toContain((await opened()).trim())
    child.stdin.write('o\u0003')
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
  })

  it('explains in one line that a chosen port is taken, and names a free one', async () => {
    const other = await serveForTest(async () => new Response())
    const { output, errors, code } = await finish(start([], { SANDBOX_PORT: String(other.port) }))
    expect(errors).toMatch(
      new RegExp(
        `^[^\n]*page[^\n]*port ${other.port}: something else listens there[^\n]*SANDBOX_PORT=[^\n]*\n$`,
      ),
    )
    const free = await serve(async () => new Response(), {
      port: Number(/SANDBOX_PORT=(\d+)/.exec(errors)?.[1]),
    })
    await free.close()
    expect(output).toBe('')
    expect(code).toBe(1)
  })
})
