import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'

const built = new URL('../dist/node.js', import.meta.url).pathname

/** Starts the bundle alone in an empty folder, where nothing else can be loaded. */
function start(environment: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  copyFileSync(built, join(folder, 'node.mjs'))
  const child = spawn(process.execPath, ['node.mjs'], { cwd: folder, env: environment })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, exit }
}

async function portOf(child: ReturnType<typeof start>['child']): Promise<number> {
  for await (const line of createInterface({ input: child.stdout })) {
    const { port } = JSON.parse(line)
    if (port) return port
  }
  throw new Error('The bundle ended without listening.')
}

describe('the bundled host', () => {
  it('runs by node alone, and ends with 0 on SIGTERM', async () => {
    const { child, exit } = start({ PLATFORM_API_URL: 'http://127.0.0.1:9', PORT: '0' })
    const port = await portOf(child)
    const response = await fetch(`http://127.0.0.1:${port}/auth/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' }),
    })
    expect(await response.json()).toEqual({ challenge: 'c' })
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
  })

  it('ends with 1, and names the variables, where its configuration is wrong', async () => {
    const { child, exit } = start({ PORT: 'x' })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    expect(await exit).toBe(1)
    expect(said).toContain('PORT: expected')
    expect(said).toContain('PLATFORM_API_URL is required')
  })

  it.each([
    ['no secret', {}, 'PLATFORM_WEBHOOK_SECRET is required in production'],
    [
      'a secret that is none',
      { PLATFORM_WEBHOOK_SECRET: 'not-a-secret' },
      'PLATFORM_WEBHOOK_SECRET: expected',
    ],
    ['an unknown way to do without', { WEBHOOK_AUTH: 'off' }, 'WEBHOOK_AUTH: expected none'],
  ])(
    'refuses to start in production with %s, says which way out there is, and no value',
    async (_, given, words) => {
      const { child, exit } = start({
        NODE_ENV: 'production',
        PLATFORM_API_URL: 'https://platform.test',
        CORS_ORIGINS: 'https://app.example.com',
        PORT: '0',
        ...given,
      })
      let said = ''
      for (const output of [child.stderr, child.stdout])
        output.on('data', (chunk) => {
          said += chunk
        })
      expect(await exit).toBe(1)
      expect(said).toContain(words)
      expect(said).not.toContain('not-a-secret')
    },
  )
})
