import { createRequire } from 'node:module'
import dotenv from 'dotenv'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
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
