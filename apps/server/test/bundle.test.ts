import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendEmail, signedRequest, startSurroundings } from './deployed.ts'

const built = new URL('../dist/node.js', import.meta.url).pathname

/** An empty folder with the bundle alone, where nothing else can be loaded. */
function putAlone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  copyFileSync(built, join(folder, 'node.mjs'))
  return folder
}

/** Starts the bundle alone. */
function start(
  environment: Record<string, string | undefined>,
  folder = putAlone(),
  user: Pick<SpawnOptions, 'uid' | 'gid'> = {},
) {
  const child = spawn(process.execPath, ['node.mjs'], { cwd: folder, env: environment, ...user })
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

/** Debian's nobody. */
const nobody = { uid: 65_534, gid: 65_534 }
const mayBeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], nobody).status === 0
// Loud, so that nobody takes a run as an ordinary user for one that could try this.
if (!mayBeNobody)
  process.stderr.write(
    'SKIPPED: the bundle as a user without rights. It needs root, to become another user.\n',
  )

describe.skipIf(!mayBeNobody)('the bundled host as a user who may write nothing else', () => {
  it('needs its data file alone', async () => {
    const around = await startSurroundings()
    onTestFinished(around.close)
    around.reset()
    const folder = putAlone()
    chmodSync(folder, 0o755)
    mkdirSync(join(folder, 'data'))
    chownSync(join(folder, 'data'), nobody.uid, nobody.gid)
    const store = { DELIVERY_STORE: 'sqlite:data/deliveries.db', PORT: '0' }
    const { child, exit } = start({ ...around.variables, ...store }, folder, nobody)
    const url = `http://127.0.0.1:${await portOf(child)}/mailer/webhook`
    expect((await fetch(await signedRequest(sendEmail, { url, id: 'evt_1' }))).status).toBe(200)
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['data', 'node.mjs'])

    const again = start({ ...around.variables, ...store }, folder, nobody)
    const later = `http://127.0.0.1:${await portOf(again.child)}/mailer/webhook`
    const replay = await fetch(await signedRequest(sendEmail, { url: later, id: 'evt_1' }))
    expect(replay.headers.get('idempotency-replayed')).toBe('true')
    expect(around.mail.messages).toHaveLength(1)
    again.child.kill('SIGTERM')
    expect(await again.exit).toBe(0)
  })

  it('ends with 1, and says why, where it may not write that either', async () => {
    const folder = putAlone()
    chmodSync(folder, 0o755)
    const { child, exit } = start({ PLATFORM_API_URL: 'http://127.0.0.1:9', PORT: '0' }, folder, nobody)
    let said = ''
    child.stdout?.on('data', (chunk) => {
      said += chunk
    })
    expect(await exit).toBe(1)
    expect(JSON.parse(said)).toMatchObject({ level: 'error', reason: expect.stringContaining('.data') })
  })
})
