/** The promises of every function of an integration; the examples of its contract are the calls. */

import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretsIn } from '../contract/marks.ts'
import { examplesOf } from '../openapi/shared.ts'
import { createRedactor } from '../redact.ts'
import { placesOf } from './argument-values.ts'
import type { EmulatorCall } from './emulator.ts'
import type { Fault } from './faults.ts'
import { fail, isChange } from './integration-host.ts'
import {
  always,
  calling,
  callOf,
  exampleCall,
  faults,
  hasSharedAccount,
  isReplay,
  type Suite,
} from './integration-suite.ts'

/** They leave a path, begin a query or a fragment, or end a value, if a client does not escape them. */
const HOSTILE_TEXTS = ['a/b?c=d&e#f', '..']

/** The method, the number of segments and the names of the parameters of a call. */
function shapeOf({ method, path }: EmulatorCall): string {
  const { pathname, searchParams } = new URL(path, 'http://provider.test')
  return `${method} ${pathname.split('/').length} ${[...new Set(searchParams.keys())].sort()}`
}

/** Whether the provider does what it is asked, and the response is lost. */
const tookEffect = (fault: Fault) =>
  ('cut' in fault && fault.cut === 'after') || ('hang' in fault && fault.hang === 'after')

/** Whether a call changes something once more if it is repeated. */
const isRepeatable = ({ method }: EmulatorCall) => method !== 'PUT' && method !== 'DELETE'

/** Describes the promises of functions: of each one if `isWhole`, else what all have in common. */
export function describeFunctions(definition: IntegrationDefinition, suite: Suite, isWhole: boolean): void {
  const { it, expect, host, deployed, expectRecovery } = suite
  it('runs a function with an effect once for each delivery id', async () => {
    const running = await deployed()
    const first = await running.send(calling(running), { id: 'evt_1' })
    running.expectSuccess(`${running.effectfulCall.name} succeeds with the arguments of the fixture`, first)
    const again = await running.send(calling(running), { id: 'evt_1' })
    // A replay may leave secrets out.
    const { arguments: given, result } = definition.functions[running.effectfulCall.name] ?? {}
    const redactor = createRedactor()
    if (given) redactor.add(secretsIn(given, running.effectfulCall.arguments(1)))
    if (result) redactor.add(secretsIn(result, Object(first.body).result))
    expect([again.status, redactor.data(again.body)]).toEqual([200, redactor.data(first.body)])
    expect([isReplay(first), isReplay(again), running.effectfulCall.count()]).toEqual([false, true, 1])
    const second = await running.send(calling(running, 2), { id: 'evt_2' })
    running.expectSuccess('Another delivery takes effect, too', second)
    expect(running.effectfulCall.count()).toBe(2)
  })

  if (hasSharedAccount(definition)) {
    it('uses the shared account of the settings without a deployment', async () => {
      const running = host()
      const { deployment: _, ...event } = calling(running)
      running.expectSuccess('A call without a deployment uses the shared account', await running.send(event))
      expect(running.effectfulCall.count()).toBe(1)
      await running.expectHome()
    })
  }

  if (!isWhole) return
  /** Runs one event of a deployment that runs, and returns the calls to the provider that it made. */
  async function run(event: object, fault?: Fault) {
    const running = await deployed()
    const since = running.provider.calls.length
    if (fault) running.provider.faults.add({ ...fault, ...always })
    const response = await running.send(event, { id: 'evt_1' })
    return { running, response, calls: running.provider.calls.slice(since) }
  }

  for (const [name, { effectful, resumable, arguments: schema }] of Object.entries(definition.functions)) {
    const call = exampleCall(definition, name)
    const places = examplesOf(schema).flatMap((example) => placesOf(schema, example))
    const callsWith = async (args: Record<string, unknown>) => (await run(callOf(name, args))).calls

    it(`runs ${name} with the example of its contract, and changes something only if it is marked`, async () => {
      const { running, response, calls } = await run(call)
      running.expectSuccess(`${name} succeeds with the example of its contract`, response)
      await running.expectHome()
      const change = calls.find(isChange)
      if (change && !effectful)
        fail(
          `${name} sends ${change.method} ${change.path}: a function that changes something needs effectful: true`,
        )
      if (!effectful) return
      const before = running.provider.calls.length
      expect(isReplay(await running.send(call, { id: 'evt_1' }))).toBe(true)
      expect(running.provider.calls.length).toBe(before)
    })

    it(`escapes the arguments of ${name} in URLs`, async () => {
      const usual = (await callsWith(call.functionCall.arguments)).map(shapeOf)
      for (const place of places) {
        const text = [place.value, ...place.others].find((value) => typeof value === 'string')
        if (text === undefined || place.fixed) continue
        const shapes = [...usual, ...(await callsWith(place.with(text))).map(shapeOf)]
        for (const hostile of HOSTILE_TEXTS) {
          const calls = await callsWith(place.with(hostile))
          const strange = calls.find((call) => !shapes.includes(shapeOf(call)))
          if (strange)
            fail(
              `${name} does not escape ${place.name}: “${hostile}” became ${strange.method} ${strange.path}`,
            )
        }
      }
    })

    it(`sends every argument of ${name} to the provider, or refuses it`, async () => {
      const send = async (args: Record<string, unknown>) => {
        const { running, response, calls } = await run(callOf(name, args))
        return response.status === 422 && calls.length === 0 ? 'refused' : (await running.sent()).join()
      }
      const undecided = new Set(places.map(({ name }) => name))
      for (const place of places) {
        const plain = place.others.length > 0 ? await send(place.with(place.value)) : 'refused'
        let isSame = true
        for (const other of place.others) isSame &&= (await send(place.with(other))) === plain
        if (isSame && plain !== 'refused')
          fail(`${name} declares the argument “${place.name}”, and its requests are the same without it`)
        if (!isSame || place.fixed) undecided.delete(place.name)
      }
      if (undecided.size > 0)
        fail(
          `The suite knows no valid value for ${[...undecided].map((place) => `“${place}”`)}, an argument of ${name}: give it one in the contract, with .meta({ examples: […] })`,
        )
    })

    if (effectful && !resumable) {
      it(`reports that the provider refuses ${name}`, async () => {
        const { running, response, calls } = await run(call, { status: 422 })
        if (calls.length > 0 && response.status === 200)
          fail(
            `${name} had no effect: let provider_rejected through, and catch none. But ${running.describeResponse(response)}`,
          )
      })
    }

    for (const [failure, fault] of faults) {
      it(`says whether a retry of ${name} is safe, and lets it take effect at most once, if ${failure}`, async () => {
        const running = await deployed()
        const event = name === running.effectfulCall.name ? calling(running) : call
        const before = running.changes().length
        await expectRecovery(running, event, fault, { effectful, resumable })
        const changes = running.changes().slice(before).filter(isRepeatable)
        const usual = (await run(event)).calls.filter(isChange).filter(isRepeatable)
        const isRepeated = tookEffect(fault) && changes.length > usual.length
        if (isRepeated || (event !== call && running.effectfulCall.count() > 1))
          fail(
            `${name} took effect twice: repeat a change only if it had no effect. It sent ${changes.map(({ method, path }) => `${method} ${path}`)}`,
          )
      })
    }
  }
}
