/** The promises of every integration about credentials. */
import type { IntegrationDefinition } from '../contract/integration.ts'
import { replaceAt, secretPaths, secretsIn, toJsonSchema, valuesAt } from '../contract/marks.ts'
import { examplesOf } from '../openapi/shared.ts'
import type { EnvironmentLookup } from '../pipeline/options.ts'
import { placesOf } from './argument-values.ts'
import { deployment, fail, holdsAny, textsIn } from './integration-host.ts'
import {
  always,
  calling,
  callOf,
  exampleCall,
  hasSharedAccount,
  IMPATIENT_MS,
  type Suite,
} from './integration-suite.ts'

const SECRET_NAME = /(token|secret|password|passphrase|digest|(api|secret|private|access|signing)_?key)$/i
/** Where a list goes on is no secret. */
const PAGE_NAME = /page|cursor|next|continu/i

/** The fields of a JSON Schema, at any depth, that are texts named like a secret and are not marked. */
function findUnmarked(schema: unknown): string[] {
  const unmarked: string[] = []
  JSON.stringify(schema, (name, field) => {
    const { type, enum: choices, sensitive } = Object(field)
    const isNamedSo = SECRET_NAME.test(name) && !PAGE_NAME.test(name)
    if (isNamedSo && type === 'string' && !choices && !sensitive) unmarked.push(name)
    return field
  })
  return unmarked
}

/** Describes the promises about credentials. */
export function describeSecrets(definition: IntegrationDefinition, suite: Suite): void {
  const { it, expect, host, deployed } = suite
  const { name, inputs, outputs, functions, downloads } = definition

  it('marks every field as a secret that is named like one', async () => {
    function check(place: string, schema: unknown): void {
      const [unmarked] = findUnmarked(schema)
      if (unmarked)
        fail(`“${unmarked}” in the ${place} of ${name} is named like a secret: mark it with secret()`)
    }
    check('inputs', toJsonSchema(inputs, 'input'))
    check('outputs', toJsonSchema(outputs, 'output'))
    for (const [called, each] of Object.entries(functions)) {
      check(`arguments of ${called}`, toJsonSchema(each.arguments, 'input'))
      check(`result of ${called}`, toJsonSchema(each.result, 'output'))
    }
  })

  it('marks every input and output as a secret that holds a credential', async () => {
    const running = await deployed()
    const places = [
      ['input', inputs, running.inputs],
      ['output', outputs, running.record.outputs],
    ] as const
    for (const [place, schema, values] of places) {
      let unmarked: unknown = values
      for (const path of secretPaths(schema)) unmarked = replaceAt(unmarked, path, () => undefined)
      for (const [path, text] of textsIn(unmarked)) {
        if (holdsAny(running.credentials, text))
          fail(`The ${place} “${path}” holds a credential: mark it with secret()`)
      }
    }
  })

  it('takes a reference to a variable of the host for every secret input', async () => {
    const running = host()
    const fields = secretPaths(inputs).filter((path) => valuesAt(running.inputs, path).length > 0)
    const variables: string[] = []
    let inputsWithReferences: unknown = running.inputs
    for (const path of fields)
      inputsWithReferences = replaceAt(inputsWithReferences, path, (value) =>
        typeof value === 'string' ? `{{env.V${variables.push(value) - 1}}}` : value,
      )
    const environment: EnvironmentLookup = (name) => ({ value: variables[Number(name.slice(1))] ?? '' })
    const given = { ...deployment, inputs: inputsWithReferences }
    const using = running.handler({ environment })
    const response = await running.send({ name: 'DEPLOYMENT_CREATED', deployment: given }, { using })
    const promise = `${fields.join(', ')} takes {{env.NAME}}: mark it with environmentReference()`
    running.expectSuccess(promise, response)
  })

  it('sends no credential to a host that only the outputs of an event name', async () => {
    const running = await deployed()
    const elsewhere = Object.entries(running.record.outputs).map(([field, value]) => [
      field,
      typeof value === 'string' && /^https?:/.test(value) ? 'https://elsewhere.test' : value,
    ])
    const forged = { ...deployment, outputs: Object.fromEntries(elsewhere) }
    await running.send({ name: 'HEALTH_CHECK', deployment: forged })
    for (const called of Object.keys(functions))
      await running.send({ ...exampleCall(definition, called), deployment: forged })
    await running.expectHome()
  })

  it('uses the credentials of the deployment, and none of the settings, for every event of a deployment', async () => {
    // Before it is created, there are no outputs to take them from.
    for (const running of [await deployed(), host()]) {
      if (hasSharedAccount(definition) && running.hostCredentials.length === 0)
        fail(`The fixture of ${name} has no credential of the settings among its credentials`)
      for (const called of Object.keys(functions)) {
        await running.send(exampleCall(definition, called))
        await running.expectOwnCredentials(called)
      }
      for (const event of [
        'DEPLOYMENT_CREATED',
        'HEALTH_CHECK',
        'METRIC_UPDATE',
        'DOWNLOAD_STARTED',
        'DEPLOYMENT_DELETED',
      ]) {
        await running.send({ name: event, deployment, download: { id: 'dl_1', file: downloads[0] } })
        await running.expectOwnCredentials(event)
      }
      if (holdsAny(running.hostCredentials, JSON.stringify([...running.record.downloads])))
        fail(`The file ${downloads[0]} of a deployment holds a credential of the settings`)
    }
  })

  it('shows secrets in no log, record or problem, and in no callback except outputs', async () => {
    const running = await deployed()
    const responses = [await running.send(calling(running), { id: 'evt_1' })]
    for (const fault of [{ status: 401 }, { status: 500 }, { cut: 'before' }, 'x', 10] as const) {
      if (typeof fault === 'object') running.provider.faults.add({ ...fault, ...always })
      else running.echo(fault)
      const using = running.handler({ timeoutMs: IMPATIENT_MS })
      const { deployment: _, ...shared } = calling(running, 3)
      responses.push(await running.send(calling(running, 2), { id: JSON.stringify(fault), using }))
      responses.push(await running.send(shared, { using }))
      responses.push(await running.send({ name: 'HEALTH_CHECK', deployment }, { using }))
      running.provider.faults.clear()
    }
    const published = [...textsIn(secretsIn(outputs, running.record.outputs))].map(([, text]) => text)
    const secrets = [...running.secrets(), ...published]
    for (const [called, { arguments: schema }] of Object.entries(functions)) {
      const places = examplesOf(schema).flatMap((example) => placesOf(schema, example))
      for (const [index, place] of places.entries()) {
        if (!secretPaths(schema).includes(place.name.replaceAll(/\[\d+\]/g, '.*'))) continue
        secrets.push(`planted-secret-${index}`)
        await running.send(callOf(called, place.with(secrets.at(-1))), { id: `evt_${called}_${index}` })
      }
    }
    expect(secrets.length > 0).toBe(true)
    const everything = { responses: responses.map(({ body }) => body), ...running.traces() }
    for (const [path, text] of textsIn(everything)) {
      const secret = secrets.find((each) => each !== '' && `${path} ${text}`.includes(each))
      if (secret === undefined) continue
      const at = text.indexOf(secret)
      fail(`A secret is shown at ${path}: “${text.slice(Math.max(0, at - 40), at + 40)}”`)
    }
  })
}
