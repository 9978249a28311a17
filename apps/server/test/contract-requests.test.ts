import { beforeAll, describe, expect, it } from 'vitest'
import { type GivenAnswer, startContract } from './contract.ts'
import { type Sample, samples, variationsOf } from './contract-corpus.ts'
import { credentials } from './hosted.ts'

/** How the host says that an event does not fit. */
const misfits = ['invalid_event', 'invalid_inputs', 'invalid_arguments', 'unknown_function']

interface Judged {
  sample: Sample
  answer: GivenAnswer
  /** Why the host does not take it; empty where it does. */
  byHost: string
  /** Why the document does not. */
  byDocument: string[]
}

interface Difference {
  reason: string
  explains: (judged: Judged) => boolean
}

/** What the host takes, and the document does not. */
const taken: Difference[] = [
  {
    reason: 'White space alone counts as left out, too; for that the document would have to allow any text.',
    explains: ({ sample }) => sample.event.name === 'DEPLOYMENT_CREATED' && sample.change?.value === '  ',
  },
  {
    reason: 'The messages of a batch are judged one by one: a bad one fails alone, in the result.',
    explains: ({ sample, answer }) =>
      /^functionCall\.arguments\.messages\b/.test(sample.change?.path ?? '') &&
      Object(answer.body).result?.failed > 0,
  },
]

/** What the document takes, and the host does not. */
const refused: Difference[] = [
  {
    reason: 'Texts are trimmed before they are judged.',
    explains: ({ sample }) => sample.change?.value === '  ',
  },
  {
    reason: 'The forms of addresses, keys and ids are more than JSON Schema can say.',
    explains: ({ byHost }) =>
      /expected one address|is no (publishable|secret) key|is not the id/.test(byHost),
  },
  {
    reason: 'What is needed depends on other fields, or on what is configured.',
    explains: ({ byHost }) =>
      /is required(, or| with| where|:|")|goes with|at least one recipient|goes into each/.test(byHost),
  },
  {
    reason: 'Inputs beside other events than DEPLOYMENT_CREATED are looked at when they are needed.',
    explains: ({ sample, byHost }) =>
      sample.event.name !== 'DEPLOYMENT_CREATED' && byHost.includes('deployment.inputs.'),
  },
]

const judged: Judged[] = []

beforeAll(async () => {
  const environment = { TENANT_MAIL_TOKEN: credentials.tenantMailToken }
  const { send, validate } = await startContract({ environment })
  for (const sample of samples) {
    for (const each of variationsOf(sample)) {
      const { id, deployment } = each.event
      // None is a redelivery of another, or about the deployment of another.
      if (id === 'evt') each.event.id = `evt_${judged.length}`
      if (Object(deployment).id === 'dep_2') Reflect.set(Object(deployment), 'id', `dep_${judged.length}`)
      const answer = await send(each.route, each.event)
      const { code, errors, detail } = Object(answer.body)
      const schema = `${each.route.replaceAll(/(?:^|-)(\w)/g, (_, first) => first.toUpperCase())}Event`
      judged.push({
        sample: each,
        answer,
        byHost: misfits.includes(code) ? `${code} ${JSON.stringify(errors ?? detail)}` : '',
        byDocument: validate(`#/components/schemas/${schema}`, each.event),
      })
    }
  }
})

/** What no reason explains, and each reason that explains nothing. */
function unexplained(differing: readonly Judged[], differences: readonly Difference[]): string[] {
  const open = differing
    .filter((each) => !differences.some(({ explains }) => explains(each)))
    .map(
      ({ sample, byHost }) =>
        `${sample.route} ${JSON.stringify(sample.event.name)} ${JSON.stringify(sample.change)} ${byHost}`,
    )
  const idle = differences.filter(({ explains }) => !differing.some(explains))
  return [...open, ...idle.map(({ reason }) => `explains nothing: ${reason}`)]
}

describe('of events that fit, and of those with one value changed,', () => {
  it('there are many of either kind', () => {
    expect(judged.filter(({ byHost }) => byHost === '').length).toBeGreaterThan(300)
    expect(judged.filter(({ byHost }) => byHost !== '').length).toBeGreaterThan(1_000)
  })

  it('those that fit are taken by both', () => {
    const fitting = judged.filter(({ sample }) => !sample.change)
    expect(fitting.filter(({ byHost, byDocument }) => byHost !== '' || byDocument.length > 0)).toEqual([])
  })

  it('whatever the host takes, the document takes, but for what is listed', () => {
    const differing = judged.filter(({ byHost, byDocument }) => byHost === '' && byDocument.length > 0)
    expect(unexplained(differing, taken)).toEqual([])
  })

  it('whatever the document takes, the host takes, but for what is listed', () => {
    const differing = judged.filter(({ byHost, byDocument }) => byHost !== '' && byDocument.length === 0)
    expect(unexplained(differing, refused)).toEqual([])
  })
})
