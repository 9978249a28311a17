/** The generated files: `.env.local`, and the middleware under both of its names. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import dotenv from 'dotenv'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { generateFile } from '../src/download.ts'
import { runWebhook } from './support.ts'

const { send, own, platform } = runWebhook()
const require = createRequire(import.meta.url)

const download = z.object({ files: z.tuple([z.object({ content: z.string() }).loose()]) })

/** Downloads .env.local for a deployment with these outputs. */
async function downloadFor(keys: { publishableKey: string; secretKey: string }) {
  platform.addDeployment({ id: 'dep_1' })
  const outputs = { ...keys, frontendApiUrl: 'https://clerk.example.com' }
  const { status, body } = await send({ name: 'DOWNLOAD_STARTED', deployment: { id: 'dep_1', outputs } })
  return { status, body, file: download.safeParse(body).data?.files[0] }
}

const names = ['CLERK_PUBLISHABLE_KEY', 'NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY', 'CLERK_SECRET_KEY'] as const
/** A worker without a framework reads the first variable, and Next.js the second. */
const expectedFor = ({ publishableKey, secretKey }: { publishableKey: string; secretKey: string }) => ({
  CLERK_PUBLISHABLE_KEY: publishableKey,
  NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY: publishableKey,
  CLERK_SECRET_KEY: secretKey,
})

/** Reads the file as Next.js does, which expands `$NAME`. */
function readAsNext(content: string): Record<string, string | undefined> {
  const fromNext = createRequire(require.resolve('next/package.json'))
  const { processEnv }: { processEnv: (...given: unknown[]) => [Record<string, string>] } =
    fromNext('@next/env')
  // A variable of the process would override the file.
  for (const name of names) vi.stubEnv(name, undefined)
  const [read] = processEnv([{ path: '.env.local', contents: content, env: {} }], '/', console, true)
  const values = Object.fromEntries(names.map((name) => [name, read[name]]))
  vi.unstubAllEnvs()
  return values
}

describe('.env.local', () => {
  it('holds both keys, for Next.js and for a worker without a framework', async () => {
    const { publishableKey, secretKey } = own
    const { file } = await downloadFor({ publishableKey, secretKey })
    expect(file).toMatchObject({ path: '.env.local', contentType: 'text/plain; charset=utf-8' })
    const expected = expectedFor({ publishableKey, secretKey })
    expect(dotenv.parse(file?.content ?? '')).toEqual(expected)
    expect(readAsNext(file?.content ?? '')).toEqual(expected)
    expect(file?.content).toMatch(/^# .*version control\.\n/)
  })

  it('preserves every value, or is refused', async () => {
    const marks = fc.constantFrom(...'"`#= \\\'$\n{}é\u2028', 'PATH')
    const odd = fc
      .oneof(
        { weight: 3, arbitrary: fc.array(fc.oneof(marks, fc.string({ maxLength: 3 })), { maxLength: 6 }) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => [text]) },
      )
      .map((parts) => `pk_test_${parts.join('')}`)
    let generated = 0
    await fc.assert(
      fc.asyncProperty(odd, odd, async (publishableKey, secretKey) => {
        const { status, body, file } = await downloadFor({ publishableKey, secretKey })
        if (!file) {
          const detail = expect.stringMatching(/publishableKey|secretKey/)
          return void expect([status, body]).toMatchObject([422, { code: 'invalid_inputs', detail }])
        }
        generated += 1
        const expected = expectedFor({ publishableKey, secretKey })
        expect(dotenv.parse(file.content)).toEqual(expected)
        expect(readAsNext(file.content)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
    // The property would also hold if everything was refused.
    expect(generated).toBeGreaterThan(50)
  })
})

const runs = `/ /dashboard /users/user_1/settings /de/über-uns /a.b.c /data.json /manifest.json /v1.2/notes
  /terms.pdf /notes.txt /app.map /sw.mjs /report.pdf.exe /jsx /css /docs/html /api /api/users /api/report.csv /api/image.png
  /trpc/user.byId /trpc/chunk.js /__clerk/v1/client /__clerk/npm/@clerk/clerk-js@6/dist/clerk.browser.js
  /dashboard.rsc /_next/data/build-1/dashboard.json /_next/data/build-1/index.json`
const skipped = `/_next/static/chunks/main-1a2b.js /_next/static/media/inter.woff2 /_next/image /_next/webpack-hmr
  /favicon.ico /image.png /images/deep/photo.jpeg /photo.jpg /logo.svg /hero.webp /main.css /main.js
  /main.js.map /a.b.c.png /font.ttf /font.woff /site.webmanifest /prices.xlsx
  /prices.csv /letter.docx /all.zip /static.html`

describe('the middleware', () => {
  const { content } = generateFile('middleware.ts', own)

  type Matches = typeof import('next/experimental/testing/server.js')['unstable_doesMiddlewareMatch']
  let doesMatch: Matches
  let middleware: { default: (request: Request, event: object) => Promise<Response> }
  let config: Parameters<Matches>[0]['config']

  beforeAll(async () => {
    // A global of the Next.js server, which does not run here.
    vi.stubGlobal('AsyncLocalStorage', AsyncLocalStorage)
    const environment = dotenv.parse(generateFile('.env.local', own).content)
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const { unstable_doesMiddlewareMatch } = await import('next/experimental/testing/server.js')
    doesMatch = unstable_doesMiddlewareMatch
    vi.stubGlobal('frontend', require('@clerk/nextjs/server'))
    // The import would need the bundler of Next.js.
    const alone = content.replace(/^import (.*) from .*$/m, 'const $1 = globalThis.frontend')
    const loaded = await import(`data:text/javascript,${encodeURIComponent(alone)}`)
    middleware = loaded
    config = loaded.config
  })
  afterAll(() => {
    vi.unstubAllGlobals()
    vi.unstubAllEnvs()
  })

  it('has two names with the same content, and holds no key', () => {
    for (const name of ['middleware.ts', 'proxy.ts'] as const)
      expect(generateFile(name, own)).toMatchObject({ path: name, content })
    expect(content).not.toMatch(/[ps]k_/)
  })

  it('recognizes a visitor who is signed out, with the keys of .env.local', async () => {
    const { NextRequest }: typeof import('next/server.js') = require('next/server')
    const request = new NextRequest('https://example.com/dashboard')
    const response = await middleware.default(request, { waitUntil: () => {} })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-clerk-auth-status')).toBe('signed-out')
  })

  it.each([
    ['runs', runs, true],
    ['does not run', skipped, false],
  ])('%s for these paths', (_what, urls, expected) => {
    for (const url of urls.split(/\s+/)) expect([url, doesMatch({ config, url })]).toEqual([url, expected])
  })
})
