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
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { connectPlatform, createPlatformEmulator, deliver, serve } from '@org/core/testing'
import * as z from 'zod'
import { createBackendApi } from '../src/testing/index.ts'
import { createHandler } from '../src/webhook.ts'

const run = promisify(execFile)

const { instance, fetch: send } = createBackendApi({ instances: [{ environmentType: 'production' }] })
const idp = await serve(send)
const handle = createHandler({
  platform: connectPlatform(createPlatformEmulator().fetch),
  verify: 'none',
  shared: instance,
  baseUrl: `${idp.url}/v1`,
  logger: () => {},
})

const response = z.object({ files: z.tuple([z.object({ path: z.string(), content: z.string() })]) })

/** The content of a file, from the event that a platform sends. */
async function download(file: string): Promise<Record<string, string>> {
  const { body } = await deliver(handle, { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1', file } })
  const [{ path, content }] = response.parse(body).files
  return { [path]: content }
}

const page = `
  import { auth } from '@clerk/nextjs/server'
  export default async function Page() {
    const { userId } = await auth()
    return <p>{userId ?? 'signed out'}</p>
  }
`
const project = {
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

/** @returns the version that was checked */
async function check(range: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'next-'))
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    const others = ['react', 'react-dom', '@clerk/nextjs', 'typescript@5', '@types/react', '@types/node']
    await run('npm', ['install', '--no-audit', '--no-fund', `next@${range}`, ...others], { cwd: folder })
    const { stdout } = await run('npm', ['pkg', 'get', 'version'], { cwd: join(folder, 'node_modules/next') })
    const version: string = JSON.parse(stdout)
    const name = Number.parseInt(version, 10) >= 16 ? 'proxy.ts' : 'middleware.ts'
    const files = { ...project, ...(await download(name)), ...(await download('.env.local')) }
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    await run(process.execPath, [next, 'build'], { cwd: folder, env: environment })
    await visit(folder)
    return version
  } finally {
    await rm(folder, { recursive: true })
  }
}

const next = 'node_modules/next/dist/bin/next'
// Nothing of Vitest or of this command's conditions.
const { PATH = '', HOME = '' } = process.env
const environment = { PATH, HOME, NEXT_TELEMETRY_DISABLED: '1', CLERK_API_URL: idp.url }

/** Starts the project, and visits its pages. */
async function visit(folder: string): Promise<void> {
  const command = [next, 'start', '--hostname', 'localhost', '--port', '0']
  const server = spawn(process.execPath, command, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  try {
    const url = await findUrl(server.stdout)
    for (const path of paths) await expectPage(`${url}${path}`, 'signed out')
    await expectPage(`${url}/logo.svg`, '<svg')
  } finally {
    server.kill()
    await ended
  }
}

async function findUrl(output: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = []
  for await (const line of createInterface({ input: output })) {
    const [url] = /http:\/\/localhost:\d+/.exec(line) ?? []
    if (url) {
      output.resume()
      return url
    }
    lines.push(line)
  }
  throw new Error(`next start ended without an address:\n${lines.join('\n')}`)
}

async function expectPage(url: string, expected: string): Promise<void> {
  const page = await fetch(url)
  const text = await page.text()
  if (page.status !== 200 || !text.includes(expected))
    throw new Error(`${url} answered ${page.status}, expected “${expected}”: ${text.slice(0, 500)}`)
}

const print = (text: string) => process.stdout.write(`${text}\n`)
const newest = await check('latest')
const { length: pages } = paths
print(`Next.js ${newest}: builds, starts, and its middleware runs for ${pages} pages.`)
const before = await check(String(Number.parseInt(newest, 10) - 1))
print(`Next.js ${before}: the same.`)
await idp.close()
