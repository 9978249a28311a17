/**
 * Builds and starts a new Next.js project with the downloaded files:
 * `node --conditions=@org/source packages/idp/test/downloads-check.ts`. It takes the newest Next.js and the major
 * before, and installs them in a folder of its own.
 *
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { serve } from '@org/core/testing'
import { generateFile } from '../src/download.ts'
import { createBackendApi } from '../src/testing/index.ts'

const run = promisify(execFile)

const { instance, fetch: send } = createBackendApi({ instances: [{ environmentType: 'production' }] })
const idp = await serve(send)

const page = `
  import { auth } from '@clerk/nextjs/server'
  export default async function Page() {
    const { userId } = await auth()
    return <p>{userId ?? 'signed out'}</p>
  }
`
const project = {
  'package.json': '{ "private": true }',
  'app/layout.jsx': 'export default ({ children }) => <html><body>{children}</body></html>',
  'app/page.jsx': page,
  'app/[...path]/page.jsx': page,
  'app/api/me/route.js': `
    import { auth } from '@clerk/nextjs/server'
    export const GET = async () => new Response((await auth()).userId ?? 'signed out')
  `,
  'public/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
}

/** Paths that call \`auth()\`. It throws where the middleware does not run. */
const paths = ['/', '/dashboard', '/api/me', '/terms.pdf', '/notes.txt', '/app.map']

const next = 'node_modules/next/dist/bin/next'
// Nothing of Vitest or of this command's conditions.
const { PATH = '', HOME = '' } = process.env
const env = { PATH, HOME, NEXT_TELEMETRY_DISABLED: '1', CLERK_API_URL: idp.url }

/** @returns the version that was checked */
async function check(range: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'next-'))
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(cwd, path)), { recursive: true })
    await writeFile(join(cwd, path), content)
  }
  try {
    for (const [path, content] of Object.entries(project)) await write(path, content)
    const others = ['react', 'react-dom', '@clerk/nextjs', 'typescript@5', '@types/react', '@types/node']
    await run('npm', ['install', '--no-audit', '--no-fund', `next@${range}`, ...others], { cwd })
    const { stdout } = await run('npm', ['pkg', 'get', 'version'], { cwd: join(cwd, 'node_modules/next') })
    const version: string = JSON.parse(stdout)
    for (const name of [
      Number.parseInt(version, 10) >= 16 ? 'proxy.ts' : 'middleware.ts',
      '.env.local',
    ] as const)
      await write(name, generateFile(name, instance).content)
    await run(process.execPath, [next, 'build'], { cwd, env })
    await visit(cwd)
    return version
  } finally {
    await rm(cwd, { recursive: true })
  }
}

/** Starts the project, and visits its pages. */
async function visit(cwd: string): Promise<void> {
  const command = [next, 'start', '--hostname', 'localhost', '--port', '0']
  const server = spawn(process.execPath, command, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = ''
      server.stdout.on('data', (chunk) => {
        output += chunk
        const [found] = /http:\/\/localhost:\d+/.exec(output) ?? []
        if (found) resolve(found)
      })
      server.once('exit', () => reject(new Error(`next start ended without an address:\n${output}`)))
    })
    const expected = [...paths.map((path) => [path, 'signed out']), ['/logo.svg', '<svg']]
    for (const [path, words = ''] of expected) {
      const page = await fetch(`${url}${path}`)
      const text = await page.text()
      if (page.status !== 200 || !text.includes(words))
        throw new Error(`${path} answered ${page.status}, expected “${words}”: ${text.slice(0, 500)}`)
    }
  } finally {
    server.kill()
    await ended
  }
}

const print = (text: string) => process.stdout.write(`${text}\n`)
const newest = await check('latest')
print(`Next.js ${newest}: builds, starts, and its middleware runs for ${paths.length} pages.`)
const before = await check(String(Number.parseInt(newest, 10) - 1))
print(`Next.js ${before}: the same.`)
await idp.close()
