/** The generated files: `.env.local`, and the middleware under both of its names. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { isIntegrationError } from '@org/core'
import dotenv from 'dotenv'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { generateFile } from '../src/download.ts'
import { createBackendApi } from '../src/testing/index.ts'

const require = createRequire(import.meta.url)
const keys = createBackendApi({ instances: [{ environmentType: 'production' }] }).instance
type Keys = Pick<typeof keys, 'publishableKey' | 'secretKey'>

/** Reads the file as Next.js does, which expands `$NAME`. */
function readAsNext(content: string): Record<string, string | undefined> {
  const fromNext = createRequire(require.resolve('next/package.json'))
  const { processEnv }: { processEnv: (...given: unknown[]) => [Record<string, string>] } =
    fromNext('@next/env')
  const names = content.match(/^\w+(?==)/gm) ?? []
  // A variable of the process would override the file.
  for (const name of names) vi.stubEnv(name, undefined)
  const [read] = processEnv([{ path: '.env.local', contents: content, env: {} }], '/', console, true)
  const values = Object.fromEntries(names.map((name) => [name, read[name]]))
  vi.unstubAllEnvs()
  return values
}

/** A worker without a framework reads the first variable, and Next.js the second. */
function expectKeys(content: string, { publishableKey, secretKey }: Keys) {
  const expected = {
    CLERK_PUBLISHABLE_KEY: publishableKey,
    NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY: publishableKey,
    CLERK_SECRET_KEY: secretKey,
  }
  expect([dotenv.parse(content), readAsNext(content)]).toEqual([expected, expected])
}

describe('.env.local', () => {
  it('holds both keys, for Next.js and for a worker without a framework', () => {
    const { path, contentType, content } = generateFile('.env.local', keys)
    expect([path, contentType]).toEqual(['.env.local', 'text/plain; charset=utf-8'])
    expectKeys(content, keys)
    expect(content).toMatch(/^# .*version control\.\n/)
  })

  it('preserves every value, or is refused', () => {
    const marks = fc.constantFrom(...'"`#= \\\'$\n{}é\u2028', 'PATH')
    const parts = fc.array(fc.oneof(marks, fc.string({ maxLength: 3 })), { maxLength: 6 })
    const odd = fc
      .oneof({ weight: 3, arbitrary: parts.map((all) => all.join('')) }, fc.string({ unit: 'binary' }))
      .map((text) => `pk_test_${text}`)
    let generated = 0
    const property = fc.property(odd, odd, (publishableKey, secretKey) => {
      const given = { publishableKey, secretKey }
      try {
        expectKeys(generateFile('.env.local', given).content, given)
        generated += 1
      } catch (error) {
        if (!isIntegrationError(error)) throw error
        const message = expect.stringMatching(/publishableKey|secretKey/)
        expect(error).toMatchObject({ code: 'invalid_inputs', message })
      }
    })
    fc.assert(property, { numRuns: 300, examples: [['#\\', '#']] })
    // The property would also hold if everything was refused.
    expect(generated).toBeGreaterThan(50)
  })
})

const runs = `/ /dashboard /users/user_1/settings /de/über-uns /a.b.c /data.json /manifest.json /v1.2/notes
  /terms.pdf /notes.txt /app.map /sw.mjs /report.pdf.exe /jsx /css /docs/html /api /api/users /api/report.csv /api/image.png
  /trpc/user.byId /trpc/chunk.js /__clerk/v1/client /__clerk/npm/@clerk/clerk-js@6/dist/clerk.browser.js
  /dashboard.rsc /_next/data/build-1/dashboard.json /_next/data/build-1/index.json`.split(/\s+/)
const skipped =
  `/_next/static/chunks/main-1a2b.js /_next/static/media/inter.woff2 /_next/image /_next/webpack-hmr
  /favicon.ico /image.png /images/deep/photo.jpeg /photo.jpg /logo.svg /hero.webp /main.css /main.js
  /main.js.map /a.b.c.png /font.ttf /font.woff /site.webmanifest /prices.xlsx
  /prices.csv /letter.docx /all.zip /static.html`.split(/\s+/)

it('the middleware has two names and no key, runs for pages and APIs alone, and recognizes a visitor who is signed out', async () => {
  const { content } = generateFile('middleware.ts', keys)
  expect(generateFile('proxy.ts', keys)).toMatchObject({ path: 'proxy.ts', content })
  expect(content).not.toMatch(/[ps]k_/)
  onTestFinished(() => void vi.unstubAllGlobals().unstubAllEnvs())
  // A global of the Next.js server, which does not run here.
  vi.stubGlobal('AsyncLocalStorage', AsyncLocalStorage)
  for (const [name, value] of Object.entries(dotenv.parse(generateFile('.env.local', keys).content)))
    vi.stubEnv(name, value)
  // The import would need the bundler of Next.js.
  vi.stubGlobal('frontend', require('@clerk/nextjs/server'))
  const alone = content.replace(/^import (.*) from .*$/m, 'const $1 = globalThis.frontend')
  const { config, default: handle } = await import(`data:text/javascript,${encodeURIComponent(alone)}`)
  const { unstable_doesMiddlewareMatch: doesMatch } = await import('next/experimental/testing/server.js')
  expect([...runs, ...skipped].filter((url) => doesMatch({ config, url }))).toEqual(runs)

  const { NextRequest }: typeof import('next/server.js') = require('next/server')
  const { status, headers } = await handle(new NextRequest('https://example.com/'), { waitUntil: () => {} })
  expect([status, headers.get('x-clerk-auth-status')]).toEqual([200, 'signed-out'])
})
