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

interface Edit {
  file: string
  from: string
  to: string
}
interface Mistake extends Edit {
  what: string
  /** Further edits of the same mistake. */
  also?: Edit[]
  /** The promise that it breaks: the name of a test. */
  promise: RegExp
  /** The words of the failure. */
  says: RegExp
}

/** The arguments of createItem, and a call with the shared account. */
const itemArguments = "functionArguments({ name: z.string().min(1).describe('The item’s name.') })"
const itemWith = (field: string) => `functionArguments({ name: z.string().min(1), ${field} })`
const sharedClient =
  "createExampleServiceClient({ apiToken: settings.shared?.apiToken ?? '', baseUrl: settings.baseUrl, fetch: context.fetch })"
const address = 'address: z.strictObject({ city: z.string(), zip: z.string() }).optional()'

const mistakes: Mistake[] = [
  {
    what: 'an output that is named like a secret, and not marked',
    file: 'integration.ts',
    from: 'apiToken: secret(z.string())',
    to: 'apiToken: z.string()',
    promise: /^marks every field as a secret that is named like one/,
    says: /“apiToken” in the outputs of example-service .* secret\(\)/,
  },
  {
    what: 'an output that holds a credential, and not marked',
    file: 'deployment.ts',
    from: 'apiUrl: connection.baseUrl',
    to: 'apiUrl: connection.baseUrl + connection.apiToken',
    promise: /^marks every input and output as a secret that holds a credential/,
    says: /output “apiUrl” holds a credential/,
  },
  {
    what: 'a reference that is not marked',
    file: 'integration.ts',
    from: 'environmentReference(secret(token()))',
    to: 'secret(z.string().trim().min(1))',
    promise: /^takes a reference to a variable of the host/,
    says: /apiToken takes {{env\.NAME}}: .* 422: credentials_rejected/,
  },
  {
    what: 'an answer that is cast',
    file: 'client.ts',
    from: 'schema.safeParse(body).data',
    to: 'body as z.output<Schema>',
    promise: /retry of getItem is safe.*in another shape/,
    says: /Parse every answer .* 500: internal_error .* expected object/s,
  },
  {
    what: 'a failure that a reading function catches',
    file: 'functions.ts',
    from: '.countItems(context)',
    to: '.countItems(context).catch(() => 0)',
    promise: /retry of countItems is safe.*answers 500/,
    says: /catch none, .* the response is 200: {"result":{"count":0}}/,
  },
  {
    what: 'a metric that is not in the contract',
    file: 'deployment.ts',
    from: 'return { number_of_items',
    to: 'return { number_of_things: 1, number_of_items',
    promise: /^returns and reports every declared metric/,
    says: /500: internal_error .*“number_of_things”, a metric that its contract does not have/,
  },
  {
    what: 'an id that is not escaped',
    file: 'client.ts',
    from: 'encodeURIComponent(id)',
    to: 'id',
    promise: /^escapes the arguments of getItem/,
    says: /getItem does not escape itemId: “a\/b\?c=d&e#f” became GET \/items\/a\/b/,
  },
  {
    what: 'a function that changes something, and is not marked',
    file: 'integration.ts',
    from: 'effectful: true',
    to: 'effectful: false',
    promise: /^runs createItem with the example/,
    says: /createItem sends POST \/items: .* needs effectful: true/,
  },
  {
    what: 'a token that goes to a host of an output',
    file: 'connection.ts',
    from: '? { apiToken: outputs.apiToken, baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL }',
    to: '? { apiToken: outputs.apiToken, baseUrl: outputs.apiUrl }',
    promise: /^sends no credential to a host that only the outputs/,
    says: /GET https:\/\/elsewhere\.test\/account/,
  },
  {
    what: 'a deadline that a function ignores',
    file: 'functions.ts',
    from: '.getItem(itemId, context)',
    to: '.getItem(itemId)',
    promise: /retry of getItem is safe.*hangs before/,
    says: /getItem goes on after its deadline/,
  },
  {
    what: 'a base URL of the settings that is not passed on',
    file: 'webhook.ts',
    from: 'const settings = { shared, baseUrl }',
    to: 'const settings = { shared }',
    promise: /^runs countItems with the example/,
    says: /goes to https:\/\/example\.test, .* but: GET https:\/\/api\.example\.com/,
  },
  {
    what: 'a shared account of the settings that is not passed on',
    file: 'webhook.ts',
    from: 'const settings = { shared, baseUrl }',
    to: 'const settings = { baseUrl }',
    promise: /^uses the shared account/,
    says: /422: missing_credentials \| This host has no shared account/,
  },
  {
    what: 'a secret of the settings that is not kept out of problems',
    file: 'webhook.ts',
    from: '...(shared?.apiToken ? [shared.apiToken] : [])',
    to: '',
    promise: /^shows secrets in no log/,
    says: /not to contain 'shared-token'/,
  },
  {
    what: 'a create that is repeated after a lost response',
    file: 'client.ts',
    from: 'json: { name }, change }',
    to: 'json: { name } }',
    promise: /retry of createItem is safe.*cut after/,
    says: /took effect twice/,
  },
  {
    what: 'an unknown argument that is accepted',
    file: 'integration.ts',
    from: itemArguments,
    to: "z.object({ name: z.string().min(1).describe('The item’s name.') })",
    promise: /^refuses an unknown argument/,
    says: /problem\+json/,
  },
  {
    what: 'a health check that calls nobody',
    file: 'deployment.ts',
    from: 'const probe = async () => (await connect(context, settings)).getAccount(context)',
    to: 'const probe = async () => connect(context, settings)',
    promise: /^reports unhealthy with status 200 if the provider is down/,
    says: /unhealthy/,
  },
  {
    what: 'a deployment whose credentials are not verified',
    file: 'deployment.ts',
    from: 'await client.getAccount(context)',
    to: "{ name: 'x' }",
    promise: /^fails a deployment with a reason/,
    says: /problem\+json/,
  },
  {
    what: 'an argument that nobody uses',
    file: 'integration.ts',
    from: itemArguments,
    to: itemWith('scheduledAt: z.iso.datetime().optional()'),
    promise: /^sends every argument of createItem/,
    says: /createItem declares the argument “scheduledAt”/,
  },
  {
    what: 'an example that its function refuses',
    file: 'integration.ts',
    from: "itemId: 'item_1'",
    to: "itemId: ''",
    promise: /^runs getItem with the example/,
    says: /getItem succeeds with the example of its contract, but the response is 422: invalid_arguments/,
  },
  {
    what: 'functions that use the shared account for a deployment with its own',
    file: 'connection.ts',
    from: 'if (!deployment) return',
    to: 'if (deployment || !deployment) return',
    promise: /^uses the credentials of the deployment/,
    says: /createItem of a deployment with credentials of its own .* POST https:\/\/example\.test\/items/,
  },
  {
    what: 'metrics that use the shared account for a deployment with its own',
    file: 'deployment.ts',
    from: '(await connect(context, settings)).countItems',
    to: `${sharedClient}.countItems`,
    promise: /^uses the credentials of the deployment/,
    says: /METRIC_UPDATE of a deployment .* GET https:\/\/example\.test\/items\/count/,
  },
  {
    what: 'a health check that uses the shared account for a deployment with its own',
    file: 'deployment.ts',
    from: '(await connect(context, settings)).getAccount',
    to: `${sharedClient}.getAccount`,
    promise: /^uses the credentials of the deployment/,
    says: /HEALTH_CHECK of a deployment .* GET https:\/\/example\.test\/account/,
  },
  {
    what: 'a deployment without outputs that uses the shared account',
    file: 'connection.ts',
    from: ': fromInputs(await deployment.inputs(exampleService.inputs), settings)',
    to: ': sharedConnection(settings)',
    promise: /^uses the credentials of the deployment/,
    says: /createItem of a deployment/,
  },
  {
    what: 'an argument with a pattern, and no example',
    file: 'integration.ts',
    from: itemArguments,
    to: itemWith('from: z.string().regex(/^\\+[1-9][0-9]+$/).optional()'),
    promise: /^sends every argument of createItem/,
    says: /knows no valid value for “from”, an argument of createItem: give it one in the contract/,
  },
  {
    what: 'an argument of at least five characters that nobody uses',
    file: 'integration.ts',
    from: itemArguments,
    to: itemWith('note: z.string().min(5).optional()'),
    promise: /^sends every argument of createItem/,
    says: /createItem declares the argument “note”/,
  },
  {
    what: 'an object that nobody uses',
    file: 'integration.ts',
    from: itemArguments,
    to: itemWith(address),
    promise: /^sends every argument of createItem/,
    says: /createItem declares the argument “address”/,
  },
  {
    what: 'a field of an object that nobody uses',
    file: 'integration.ts',
    from: itemArguments,
    to: itemWith(address),
    also: [
      { file: 'client.ts', from: 'createItem({ name }, options)', to: 'createItem(item: any, options)' },
      {
        file: 'client.ts',
        from: 'json: { name }',
        to: 'json: { name: item.name, city: item.address?.city }',
      },
    ],
    promise: /^sends every argument of createItem/,
    says: /createItem declares the argument “address\.zip”/,
  },
  {
    what: 'an id in a list that is not escaped',
    file: 'integration.ts',
    from: "functionArguments({ itemId: z.string().min(1).describe('The item’s id.') })",
    to: 'functionArguments({ itemIds: z.array(z.string().min(1)).min(1) })',
    also: [
      { file: 'integration.ts', from: "{ itemId: 'item_1' }", to: "{ itemIds: ['item_1'] }" },
      { file: 'functions.ts', from: '({ itemId }, context)', to: '({ itemIds: [itemId = ""] }, context)' },
      { file: 'client.ts', from: 'encodeURIComponent(id)', to: 'id' },
    ],
    promise: /^escapes the arguments of getItem/,
    says: /getItem does not escape itemIds\[0\]: “a\/b\?c=d&e#f” became GET \/items\/a\/b/,
  },
  {
    what: 'an output that holds a credential in base64, and not marked',
    file: 'deployment.ts',
    from: 'apiUrl: connection.baseUrl',
    to: "apiUrl: 'Basic ' + btoa('x:' + connection.apiToken)",
    promise: /^marks every input and output as a secret that holds a credential/,
    says: /output “apiUrl” holds a credential/,
  },
  {
    what: 'a second function with an effect that is repeated after a lost response',
    file: 'integration.ts',
    from: '    getItem: {',
    to: `    copyItem: {
      description: 'Copies an item.',
      effectful: true,
      arguments: functionArguments({ name: z.string().min(1) }).meta({ examples: [{ name: 'A copy' }] }),
      result: item,
    },
    getItem: {`,
    also: [
      {
        file: 'functions.ts',
        from: '    getItem:',
        to: '    copyItem: async (item, context) => (await connect(context, settings)).copyItem(item, context),\n    getItem:',
      },
      {
        file: 'client.ts',
        from: '    // An id',
        to: "    copyItem: ({ name }, options) => call({ method: 'POST', path: '/items', json: { name } }, wireItem, options),\n    // An id",
      },
    ],
    promise: /retry of copyItem is safe.*cut after/,
    says: /copyItem took effect twice.* POST \/items,POST \/items/,
  },
  {
    what: 'a refusal that a function with an effect catches',
    file: 'functions.ts',
    from: '.createItem(item, context)',
    to: ".createItem(item, context).catch((e) => e.code === 'provider_rejected' ? { id: '', name: '' } : Promise.reject(e))",
    promise: /^reports that the provider refuses createItem/,
    says: /createItem had no effect: .* the response is 200: {"result":{"id":"","name":""}}/,
  },
]

/** Makes the mistake in a copy, and runs the tests of the suite whose name matches. */
async function runWith({ also = [], promise, ...edit }: Mistake): Promise<unknown> {
  const copy = mkdtempSync(join(folder, 'copy-'))
  for (const part of ['src', 'test/fixture.ts'])
    cpSync(join(template, part), join(copy, part), { recursive: true })
  for (const { file, from, to } of [edit, ...also]) {
    const path = join(copy, 'src', file)
    const source = readFileSync(path, 'utf8')
    expect(source, `${file} has the right lines`).toContain(from)
    writeFileSync(
      path,
      source.replace(from, () => to),
    )
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
    // The bound of an event is 8 seconds: far beyond its deadline, and too long to wait for here.
    const { setTimeout } = globalThis
    vi.stubGlobal('setTimeout', (work: () => void, ms: number) => setTimeout(work, ms === 8_000 ? 3_000 : ms))
    const error = await runWith(mistake).finally(() => vi.unstubAllGlobals())
    expect(error).toBeInstanceOf(Error)
    expect(Object(error).message).toMatch(mistake.says)
  })
})
