import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { serveForTest } from './fixtures.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The sandbox as its own process, as `npm start` runs it. */
function start(given: string[] = [], environment: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, ['--conditions=@org/source', main, ...given], {
    env: { PATH: process.env.PATH, PORT: '0', SANDBOX_PORT: '0', ...environment },
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
  it('prints its usage', async () => {
    const { output, code } = await finish(start(['--help']))
    expect(output).toMatch(/^Usage: npm start/)
    expect(code).toBe(0)
  })

  it('refuses an unknown option', async () => {
    const { output, errors, code } = await finish(start(['--twice']))
    expect(errors).toBe("Unknown option '--twice'\n")
    expect(output).toBe('')
    expect(code).toBe(1)
  })

  it('ends after the walk with --once, without colours if the output is no terminal', async () => {
    const { output, errors, code } = await finish(start(['--', '--once']))
    expect(output).toMatch(/\d+ steps passed, 0 failed/)
    expect(output).not.toContain('\u001b')
    expect(output).not.toContain('Ctrl-C')
    expect(errors).toBe('')
    expect(code).toBe(0)
  })

  it('keeps running without --once, with a page, until Ctrl-C', async () => {
    const child = start()
    let printed = ''
    let title: Promise<string> = Promise.resolve('')
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const url = /See it, try it, break it: (\S+)/.exec(printed)?.[1]
      if (url === undefined || !printed.includes('Ctrl-C')) return
      child.stdout.removeAllListeners('data').resume()
      title = fetch(url)
        .then((response) => response.text())
        .finally(() => child.kill('SIGINT'))
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(await title).toContain('<h1>See it, try it, break it</h1>')
  })

  it('names the variable with an invalid port', async () => {
    const { errors, code } = await finish(start([], { SANDBOX_PORT: 'three' }))
    expect(errors).toBe('SANDBOX_PORT: expected a port from 0 to 65535.\n')
    expect(code).toBe(1)
  })

  it('explains in one line that the port of the page is taken', async () => {
    const other = await serveForTest(async () => new Response())
    const { output, errors, code } = await finish(start([], { SANDBOX_PORT: String(other.port) }))
    expect(errors).toMatch(
      new RegExp(
        `^[^\n]*page[^\n]*port ${other.port}: something else listens there[^\n]*SANDBOX_PORT=[^\n]*\n$`,
      ),
    )
    expect(output).toBe('')
    expect(code).toBe(1)
  })
})
