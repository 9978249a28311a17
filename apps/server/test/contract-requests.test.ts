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
]

/** The part that only this event has. */
const ownPart: Record<string, string> = {
  DEPLOYMENT_CREATED: 'deployment',
  FUNCTION_CALL: 'functionCall',
  DOWNLOAD_STARTED: 'download',
}
/** The replacements of a value; `undefined` removes it. */
const replacements: readonly unknown[] = [undefined, null, '  ', 'nonsense', -1.5, ['a'], { a: 1 }]

/** The variations of an event with one changed value in a part that no other event has. */
function* variationsOf(route: string, valid: Event) {
  const part = ownPart[String(valid.name)]
  // One route is enough for the parts and functions that several routes share.
  if (part === undefined && route !== 'mailer') return
  if (route === 'auth' || (route === 'idp-server' && part === 'functionCall')) return
  for (const place of placesOf(valid)) {
    if (place[1] === 'outputs' || (part !== undefined && place[0] !== part)) continue
    for (const value of replacements) {
      const event = structuredClone(valid)
      const container = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), event)
      Reflect.set(Object(container), place.at(-1) ?? '', value)
      yield { event: JSON.parse(JSON.stringify(event)), change: { path: place.join('.'), value } }
    }
  }
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}

const verdicts: Verdict[] = []
const contract = await startContract({ environment: { TENANT_MAIL_TOKEN: credentials.tenantMailToken } })

const given = validEvents.map(({ route, event }) => {
  const { outputs: _, ...created } = event.deployment
  const deployment = event.name === 'DEPLOYMENT_CREATED' ? created : event.deployment
  const valid: Event = JSON.parse(JSON.stringify({ ...event, deployment }))
  return { route, valid }
})

/** Lets the host and the document judge an event with its own delivery and deployment. */
async function judge(route: string, event: Event, change: Verdict['change']): Promise<void> {
  const { send, validate, world } = contract
  if (event.id === 'evt_1') event.id = `evt_${verdicts.length}`
  const id = `dep_${verdicts.length}`
  if (Object(event.deployment).id === 'dep_1') event.deployment = { ...Object(event.deployment), id }
  world.platform.addDeployment({ id })
  const response = await send(route, event)
  const { code, errors, detail } = Object(response.body)
  const isInvalid = /^(invalid_(event|inputs|arguments)|missing_credentials|unknown_function)$/.test(code)
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

/** Unexplained differences, and reasons that explain none. */
function unexplained(differing: readonly Verdict[], differences: readonly Difference[]): string[] {
  const open = differing
    .filter((each) => !differences.some(({ explains }) => explains(each)))
    .map(({ route, event, change, byHost }) => `${route} ${event.name} ${JSON.stringify(change)} ${byHost}`)
  const idle = differences.filter(({ explains }) => !differing.some(explains))
  return [...open, ...idle.map(({ reason }) => `explains nothing: ${reason}`)]
}

describe('valid events', () => {
  beforeAll(async () => {
    for (const { route, valid } of given) await judge(route, structuredClone(valid), undefined)
  })

  it('succeed with a response of the document: every event and function', () => {
    for (const { route, event, response, byDocument } of verdicts)
      expect([response.status, byDocument], `${route} ${JSON.stringify(event)}`).toEqual([200, []])
    const described = Object.entries(contract.document.paths).flatMap(([path, { post }]) =>
      Object.keys(post?.['x-responses'] ?? {}).map((name) => `${path} ${name}`),
    )
    expect(described.filter((each) => !contract.seen.has(each))).toEqual([])
    expect(described.length).toBeGreaterThan(40)
  })
})

describe('valid events with one changed value', () => {
  beforeAll(async () => {
    for (const { route, valid } of given)
      for (const { event, change } of variationsOf(route, valid)) await judge(route, event, change)
  })

  it('are many', () => {
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
