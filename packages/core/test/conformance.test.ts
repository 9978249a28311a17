/** The suite for integrations finds what a maintainer forgets: each mistake is made in a copy of the template. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeIntegration } from '@org/core/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const template = join(import.meta.dirname, '../../../tooling/new-integration/template')
let folder: string
// Inside the template, so that its imports resolve.
beforeAll(() => {
  mkdirSync(join(template, '.data'), { recursive: true })
  folder = mkdtempSync(join(template, '.data/planted-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The arguments of createItem. */
const itemArguments = "functionArguments({ name: z.string().min(1).describe('The item’s name.') })"
const address = 'address: z.strictObject({ city: z.string(), zip: z.string() }).optional()'

/** Each mistake with its edits, the promise that it breaks, and the words of the failure. */
const table = String.raw`
an output that is named like a secret, and not marked
  integration.ts: apiToken: secret(z.string()) ⇒ apiToken: z.string()
  ^marks every field as a secret that is named like one
  “apiToken” in the outputs of example-service .* secret\(\)

a reference that is not marked
  integration.ts: environmentReference(secret(token())) ⇒ secret(z.string().trim().min(1))
  ^takes a reference to a variable of the host
  apiToken takes {{env\.NAME}}: .* 422: credentials_rejected

an answer that is cast
  client.ts: schema.safeParse(body).data ⇒ body as z.output<Schema>
  retry of getItem is safe.*in another shape
  Parse every answer .* 500: internal_error .* expected object

a failure that a reading function catches
  functions.ts: .countItems(context) ⇒ .countItems(context).catch(() => 0)
  retry of countItems is safe.*answers 500
  catch none, .* the response is 200: {"result":{"count":0}}

a metric that is not in the contract
  deployment.ts: return { number_of_items ⇒ return { number_of_things: 1, number_of_items
  ^returns and reports every declared metric
  500: internal_error .*“number_of_things”, which its contract does not have

a function that changes something, and is not marked
  integration.ts: effectful: true ⇒ effectful: false
  ^runs createItem with the example
  createItem sends POST \/items: .* needs effectful: true

a token that goes to a host of an output
  connection.ts: ? { apiToken: outputs.apiToken, baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL } ⇒ ? { apiToken: outputs.apiToken, baseUrl: outputs.apiUrl }
  ^sends no credential to a host that only the outputs
  GET https:\/\/elsewhere\.test\/account

a deadline that a function ignores
  functions.ts: .getItem(itemId, context) ⇒ .getItem(itemId)
  retry of getItem is safe.*hangs before
  getItem goes on after its deadline

a base URL of the settings that is not passed on
  webhook.ts: const settings = { shared, baseUrl } ⇒ const settings = { shared }
  ^runs countItems with the example
  goes to https:\/\/example\.test, .* but: GET https:\/\/api\.example\.com

a shared account of the settings that is not passed on
  webhook.ts: const settings = { shared, baseUrl } ⇒ const settings = { baseUrl }
  ^uses the shared account
  422: missing_credentials \| This host has no shared account

a secret of the settings that is not kept out of problems
  webhook.ts: ...(shared?.apiToken ? [shared.apiToken] : []) ⇒ 
  ^shows secrets in no log
  shown at responses\[\d+\]\.detail: “.{0,40}shared-token

a health check that calls nobody
  deployment.ts: const probe = async () => (await connect(context, settings)).getAccount(context) ⇒ const probe = async () => connect(context, settings)
  ^reports unhealthy with status 200 if the provider is down
  unhealthy

a deployment whose credentials are not verified
  deployment.ts: await client.getAccount(context) ⇒ { name: 'x' }
  ^fails a deployment with a reason
  problem\+json

an argument that nobody uses
  integration.ts: ${itemArguments} ⇒ functionArguments({ name: z.string().min(1), scheduledAt: z.iso.datetime().optional() })
  ^sends every argument of createItem
  createItem declares the argument “scheduledAt”

a deployment without outputs that uses the shared account
  connection.ts: : fromInputs(await deployment.inputs(exampleService.inputs), settings) ⇒ : sharedConnection(settings)
  ^uses the credentials of the deployment
  createItem of a deployment

an argument with a pattern, and no example
  integration.ts: ${itemArguments} ⇒ functionArguments({ name: z.string().min(1), from: z.string().regex(/^\+[1-9][0-9]+$/).optional() })
  ^sends every argument of createItem
  knows no valid value for “from”, an argument of createItem: give it one in the contract

a field of an object that nobody uses
  integration.ts: ${itemArguments} ⇒ functionArguments({ name: z.string().min(1), ${address} })
  client.ts: createItem({ name }, options) ⇒ createItem(item: any, options)
  client.ts: json: { name } ⇒ json: { name: item.name, city: item.address?.city }
  ^sends every argument of createItem
  createItem declares the argument “address\.zip”

an id in a list that is not escaped
  integration.ts: functionArguments({ itemId: z.string().min(1).describe('The item’s id.') }) ⇒ functionArguments({ itemIds: z.array(z.string().min(1)).min(1) })
  integration.ts: { itemId: 'item_1' } ⇒ { itemIds: ['item_1'] }
  functions.ts: ({ itemId }, context) ⇒ ({ itemIds: [itemId = ""] }, context)
  client.ts: encodeURIComponent(id) ⇒ id
  ^escapes the arguments of getItem
  getItem does not escape itemIds\[0\]: “a\/b\?c=d&e#f” became GET \/items\/a\/b

a function with an effect that is repeated after a lost response
  integration.ts: getItem: { ⇒ copyItem: { description: 'Copies an item.', effectful: true, arguments: functionArguments({ name: z.string().min(1) }).meta({ examples: [{ name: 'A copy' }] }), result: item, }, getItem: {
  functions.ts: getItem: ⇒ copyItem: async (item, context) => (await connect(context, settings)).copyItem(item, context), getItem:
  client.ts: // An id ⇒ copyItem: ({ name }, options) => call({ method: 'POST', path: '/items', json: { name } }, wireItem, options), // An id
  retry of copyItem is safe.*cut after
  copyItem took effect twice.* POST \/items,POST \/items

a refusal that a function with an effect catches
  functions.ts: .createItem(item, context) ⇒ .createItem(item, context).catch((e) => e.code === 'provider_rejected' ? { id: '', name: '' } : Promise.reject(e))
  ^reports that the provider refuses createItem
  createItem had no effect: .* the response is 200: {"result":{"id":"","name":""}}

a credential within an output, in base64, and not marked
  integration.ts: apiUrl: z.string() ⇒ connection: z.object({ uri: z.string() }), apiUrl: z.string()
  deployment.ts: return { apiToken ⇒ return { connection: { uri: 'Basic ' + btoa('x:' + connection.apiToken) }, apiToken
  ^marks every input and output as a secret that holds a credential
  output “connection\.uri” holds a credential
`

const mistakes = table
  .trim()
  .split('\n\n')
  .map((block) => {
    const [what = '', ...lines] = block.split('\n').map((line) => line.trim())
    const [promise = '', says = ''] = lines.splice(-2)
    const edits = lines.map((line) => {
      const [, file = '', from = '', to = ''] = /^([a-z]+\.ts): (.+) ⇒ ?(.*)$/.exec(line) ?? []
      return { file, from, to }
    })
    return { what, edits, promise: new RegExp(promise), says: new RegExp(says, 's') }
  })

/** Makes the mistake in a copy, and runs the tests of the suite whose name matches. */
async function runWith({ edits, promise }: (typeof mistakes)[number]): Promise<unknown> {
  const copy = mkdtempSync(join(folder, 'copy-'))
  for (const part of ['src', 'test/fixture.ts'])
    cpSync(join(template, part), join(copy, part), { recursive: true })
  for (const { file, from, to } of edits) {
    const path = join(copy, 'src', file)
    const source = readFileSync(path, 'utf8')
    expect(source, `${file} has the right lines`).toContain(from)
    writeFileSync(path, source.split(from).join(to))
  }
  const { integration } = await import(join(copy, 'src/webhook.ts'))
  const { createFixture } = await import(join(copy, 'test/fixture.ts'))
  const cases: (() => Promise<void>)[] = []
  describeIntegration(integration, createFixture, {
    describe: (_, body) => body(),
    it: (name, body) => promise.test(name) && cases.push(body),
    expect,
  })
  expect(cases).toHaveLength(1)
  return cases[0]?.().catch((error: unknown) => error)
}

describe('the suite for integrations', () => {
  it.each(mistakes)('finds $what', async (mistake) => {
    // The bound of an event is 8 seconds. Where it passes, it is too long to wait for here; elsewhere, 3 may be too short.
    const { setTimeout } = globalThis
    const bound = mistake.what === 'a deadline that a function ignores' ? 3_000 : 60_000
    vi.stubGlobal('setTimeout', (work: () => void, ms: number) => setTimeout(work, ms === 8_000 ? bound : ms))
    const error = await runWith(mistake).finally(() => vi.unstubAllGlobals())
    expect(error).toBeInstanceOf(Error)
    expect(Object(error).message).toMatch(mistake.says)
  })

  it('takes a function whose result has a secret, which a replay leaves out', async () => {
    const edits = [{ file: 'integration.ts', from: 'id: z.string()', to: 'id: secret(z.string())' }]
    const promise = /^runs a function with an effect once/
    expect(await runWith({ what: 'a secret', edits, promise, says: promise })).toBeUndefined()
  })
})
