import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import dotenv from 'dotenv'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { generateFile } from '../src/download.ts'
import { createBackendApi } from '../src/testing/index.ts'

const require = createRequire(import.meta.url)
const keys = createBackendApi({ instances: [{ environmentType: 'production' }] }).instance
const { content } = generateFile('middleware.ts', keys)

type Matches = typeof import('next/experimental/testing/server.js')['unstable_doesMiddlewareMatch']
let doesMatch: Matches
let middleware: { default: (request: Request, event: object) => Promise<Response> }
let config: Parameters<Matches>[0]['config']

beforeAll(async () => {
  // A global of the Next.js server, which does not run here.
  vi.stubGlobal('AsyncLocalStorage', AsyncLocalStorage)
  const environment = dotenv.parse(generateFile('.env.local', keys).content)
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

it('the middleware has two names with the same content, and holds no key', () => {
  for (const name of ['middleware.ts', 'proxy.ts'] as const)
    expect(generateFile(name, keys)).toMatchObject({ path: name, content })
  expect(content).not.toMatch(/[ps]k_/)
})

it('the middleware recognizes a visitor who is signed out, with the keys of .env.local', async () => {
  const { NextRequest }: typeof import('next/server.js') = require('next/server')
  const request = new NextRequest('https://example.com/dashboard')
  const response = await middleware.default(request, { waitUntil: () => {} })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-clerk-auth-status')).toBe('signed-out')
})

const runs = `/ /dashboard /users/user_1/settings /de/über-uns /a.b.c /data.json /manifest.json /v1.2/notes
  /terms.pdf /notes.txt /app.map /sw.mjs /report.pdf.exe /jsx /css /docs/html /api /api/users /api/report.csv /api/image.png
  /trpc/user.byId /trpc/chunk.js /__clerk/v1/client /__clerk/npm/@clerk/clerk-js@6/dist/clerk.browser.js
  /dashboard.rsc /_next/data/build-1/dashboard.json /_next/data/build-1/index.json`
const skipped = `/_next/static/chunks/main-1a2b.js /_next/static/media/inter.woff2 /_next/image /_next/webpack-hmr
  /favicon.ico /image.png /images/deep/photo.jpeg /photo.jpg /logo.svg /hero.webp /main.css /main.js
  /main.js.map /a.b.c.png /font.ttf /font.woff /site.webmanifest /prices.xlsx
  /prices.csv /letter.docx /all.zip /static.html`

it.each([
  ['runs', runs, true],
  ['does not run', skipped, false],
])('the middleware %s for these paths', (_what, urls, expected) => {
  for (const url of urls.split(/\s+/)) expect([url, doesMatch({ config, url })]).toEqual([url, expected])
})
