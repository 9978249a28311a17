import { beforeAll, describe, expect, it } from 'vitest'
import { type HostResponse, startContract } from './contract.ts'
import { validEvents } from './corpus.ts'
import { credentials } from './hosted.ts'

type Event = Record<string, unknown>

interface Verdict {
  route: string
  event: Event
  /** The changed value; absent if the event is valid. */
  change: { path: string; value: unknown } | undefined
  response: HostResponse
  /** Why the host refuses the event; empty if it accepts it. */
  byHost: string
  /** Why the document refuses it. */
  byDocument: string[]
}

interface Difference {
  reason: string
  explains: (verdict: Verdict) => boolean
}

/** Events that the host accepts, and the document does not. */
const accepted: Difference[] = [
  {
    reason: 'The host treats white space as absent; the document would have to allow any text.',
    explains: ({ event, change }) => event.name === 'DEPLOYMENT_CREATED' && change?.value === '  ',
  },
  {
    reason: 'The host validates each message of a batch alone: an invalid one fails in the result.',
    explains: ({ change, response }) =>
      /^functionCall\.arguments\.messages\b/.test(change?.path ?? '') &&
      Object(response.body).result?.failed > 0,
  },
]

/** Events that the document accepts, and the host does not. */
const refused: Difference[] = [
  {
    reason: 'The host trims texts before it validates them.',
    explains: ({ change }) => change?.value === '  ',
  },
  {
    reason: 'JSON Schema can’t express the formats of addresses, keys and ids.',
    explains: ({ byHost }) =>
      /expected one address|is not (a publishable|a secret) key|is not the id/.test(byHost),
  },
  {
    reason: 'Required fields depend on other fields, or on the configuration.',
    explains: ({ byHost }) =>
      /is required(, or| with| where|:|")|goes with|at least one recipient|goes into each/.test(byHost),
  },
  {
    reason: 'The host validates the inputs of other events than DEPLOYMENT_CREATED when it needs them.',
    explains: ({ event, byHost }) =>
      event.name !== 'DEPLOYMENT_CREATED' && byHost.includes('deployment.inputs.'),
  },
]

/** The part that only this event has. */
const ownPart: Record<string, string> = {
  DEPLOYMENT_CREATED: 'deployment',
  FUNCTION_CALL: 'functionCall',
  DOWNLOAD_STARTED: 'download',
}
/** The replacements of a value; `undefined` removes it. */
const replacements: readonly unknown[] = [undefined, null, '  ', 'nonsense', -1.5, ['a'], { a: 1 }]

/** A valid event, and its variations with one changed value. */
function* variationsOf({ route, event }: (typeof validEvents)[number]) {
  const part = ownPart[event.name]
  const { id, name } = event
  const { outputs: _, ...deployment } = event.deployment
  const whole = { ...event, deployment }
  // A call uses the shared credentials.
  const named = name === 'FUNCTION_CALL' ? { id, name } : { id, name, deployment }
  const sample: Event = part === undefined ? whole : { ...named, [part]: Reflect.get(whole, part) }
  yield { event: JSON.parse(JSON.stringify(sample)), change: undefined }
  // One route is enough for the parts that all routes share.
  if (part === undefined && route !== 'mailer') return
  for (const place of placesOf(sample)) {
    if (part !== undefined && place[0] !== part) continue
    for (const value of replacements) {
      const changed = structuredClone(sample)
      const container = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), changed)
      Reflect.set(Object(container), place.at(-1) ?? '', value)
      yield { event: JSON.parse(JSON.stringify(changed)), change: { path: place.join('.'), value } }
    }
  }
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}

const verdicts: Verdict[] = []

beforeAll(async () => {
  const environment = { TENANT_MAIL_TOKEN: credentials.tenantMailToken }
  const { send, validate } = await startContract({ environment })
  for (const valid of validEvents) {
    const { route } = valid
    // Both identity providers have the same functions.
    if (route === 'idp-server' && valid.event.name === 'FUNCTION_CALL') continue
    for (const { event, change } of variationsOf(valid)) {
      // Each has its own delivery and deployment.
      if (event.id === 'evt_1') event.id = `evt_${verdicts.length}`
      if (event.deployment?.id === 'dep_1') event.deployment.id = `dep_${verdicts.length}`
      const response = await send(route, event)
      const { code, errors, detail } = Object(response.body)
      const isInvalid = /^(invalid_(event|inputs|arguments)|unknown_function)$/.test(code)
      const schema = `${route.replaceAll(/(?:^|-)(\w)/g, (_, first) => first.toUpperCase())}Event`
      verdicts.push({
        route,
        event,
        change,
        response,
        byHost: isInvalid ? `${code} ${JSON.stringify(errors ?? detail)}` : '',
        byDocument: validate(`#/components/schemas/${schema}`, event),
      })
    }
  }
})

/** Unexplained differences, and reasons that explain none. */
function unexplained(differing: readonly Verdict[], differences: readonly Difference[]): string[] {
  const open = differing
    .filter((each) => !differences.some(({ explains }) => explains(each)))
    .map(({ route, event, change, byHost }) => `${route} ${event.name} ${JSON.stringify(change)} ${byHost}`)
  const idle = differences.filter(({ explains }) => !differing.some(explains))
  return [...open, ...idle.map(({ reason }) => `explains nothing: ${reason}`)]
}

describe('valid events and their variations', () => {
  it('are accepted by the host and the document if they are valid', () => {
    const valid = verdicts.filter(({ change }) => !change)
    expect(valid.filter(({ byHost, byDocument }) => byHost !== '' || byDocument.length > 0)).toEqual([])
    expect(verdicts.filter(({ byHost }) => byHost === '').length).toBeGreaterThan(300)
    expect(verdicts.filter(({ byHost }) => byHost !== '').length).toBeGreaterThan(1_000)
  })

  it('are valid by the document if the host accepts them, with the listed exceptions', () => {
    const differing = verdicts.filter(({ byHost, byDocument }) => byHost === '' && byDocument.length > 0)
    expect(unexplained(differing, accepted)).toEqual([])
  })

  it('are accepted by the host if the document does, with the listed exceptions', () => {
    const differing = verdicts.filter(({ byHost, byDocument }) => byHost !== '' && byDocument.length === 0)
    expect(unexplained(differing, refused)).toEqual([])
  })
})
