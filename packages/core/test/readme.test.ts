import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@org/core/errors'
import {
  connectPlatform,
  createEmulator,
  createFaults,
  createPlatformEmulator,
  deliver,
} from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { afterAll, describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

const home = join(import.meta.dirname, '..')
const text = readFileSync(join(home, 'README.md'), 'utf8')

const provider = createEmulator({
  faults: createFaults(),
  handle: ({ text }) => Response.json({ greeting: `Hello ${text && JSON.parse(text).name}` }),
  details: () => ({}),
})

afterAll(() => rmSync('.data/deliveries.db', { force: true }))

describe('the README', () => {
  it('has a row for each entry of the package', async () => {
    const rows = [...text.matchAll(/^\| `@org\/core(\/?[^`]*)` +\|/gm)].map(([, path]) => `.${path}`)
    expect(Object.keys(packageJson.exports).toSorted()).toEqual(rows.toSorted())
    for (const row of rows) await import(`@org/core${row.slice(1)}`)
  })

  it('has a row for each error code with its status and its retryability', () => {
    const rows = [...text.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (yes|no) +\|$/gm)].map(([, ...row]) => row)
    const codes = Object.entries(errorCodes).map(([code, { status, retryable }]) => [
      code,
      String(status),
      retryable ? 'yes' : 'no',
    ])
    expect(rows).toEqual(codes)
  })
})

await describeReadme(home, {
  hosts: { 'api.example.com': provider.fetch },
  reset() {
    provider.calls.length = 0
  },
  async run(path, code) {
    const { createHandler } = await import(path)
    if (!createHandler) return expect(provider.calls).toHaveLength(code.includes('createHttpClient') ? 1 : 0)
    const platform = createPlatformEmulator()
    const handle = createHandler({
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      logger: () => {},
    })
    const deployment = { id: platform.addDeployment({ id: 'dep_1' }).id, inputs: { apiToken: 'token' } }
    const created = await deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment })
    expect(created.body).toEqual({ status: 'running', outputs: { apiToken: 'token' } })

    const functionCall = { name: 'greet', arguments: { name: 'Ada' } }
    const event = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    for (const _ of [1, 2]) {
      const response = await deliver(handle, event, { id: 'evt_1' })
      expect(response).toMatchObject({ status: 200, body: { result: { greeting: 'Hello Ada' } } })
    }
    expect(provider.calls).toHaveLength(1)
  },
})
