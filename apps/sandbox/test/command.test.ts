import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The sandbox as its own process, as `npm start` runs it. */
function start(...given: string[]) {
  return spawn(process.execPath, ['--conditions=@org/source', main, ...given], {
    env: { PATH: process.env.PATH, PORT: '0' },
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
  it('explains itself', async () => {
    const { output, code } = await finish(start('--help'))
    expect(output).toMatch(/^Usage: npm start/)
    expect(code).toBe(0)
  })

  it('refuses an option that it does not have', async () => {
    const { output, errors, code } = await finish(start('--twice'))
    expect(errors).toBe("Unknown option '--twice'. Try --help.\n")
    expect(output).toBe('')
    expect(code).toBe(1)
  })

  it('ends after the walk with --once, without colours where nobody sees them', async () => {
    const { output, errors, code } = await finish(start('--', '--once'))
    expect(output).toMatch(/\d+ steps passed, 0 failed/)
    expect(output).not.toContain('\u001b')
    expect(output).not.toContain('Ctrl-C')
    expect(errors).toBe('')
    expect(code).toBe(0)
  })

  it('stays up without --once, until Ctrl-C', async () => {
    const child = start()
    child.stdout.on('data', (chunk) => {
      if (String(chunk).includes('Ctrl-C')) child.kill('SIGINT')
    })
    const { code } = await finish(child)
    expect(code).toBe(0)
  })
})
