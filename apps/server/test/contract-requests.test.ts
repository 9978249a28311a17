import { beforeAll, describe, expect, it } from 'vitest'
import { type GivenAnswer, startContract } from './contract.ts'
import { type Sample, samples, variationsOf } from './contract-corpus.ts'
import { credentials } from './hosted.ts'

/** The codes of invalid events. */
const misfits = ['invalid_event', 'invalid_inputs', 'invalid_arguments', 'unknown_function']

interface Verdict {
  sample: Sample
  answer: GivenAnswer
  /** Why the host refuses it; empty if it accepts it. */
  byHost: string
  /** Why the document refuses it. */
  byDocument: string[]
}

interface Difference {
  reason: string
  explains: (verdict: Verdict) => boolean
}

/** Events that the host accepts, and the document does not. */
const taken: Difference[] = [
  {
    reason: 'The host treats white space as absent; the document would have to allow any text.',
    explains: ({ sample }) => sample.event.name === 'DEPLOYMENT_CREATED' && sample.change?.value === '  ',
  },
  {
    reason: 'The host validates each message of a batch alone: an invalid one fails in the result.',
    explains: ({ sample, answer }) =>
      /^functionCall\.arguments\.messages\b/.test(sample.change?.path ?? '') &&
      Object(answer.body).result?.failed > 0,
  },
]

/** Events that the document accepts, and the host does not. */
const refused: Difference[] = [
  {
    reason: 'The host trims texts before it validates them.',
    explains: ({ sample }) => sample.change?.value === '  ',
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
    explains: ({ sample, byHost }) =>
      sample.event.name !== 'DEPLOYMENT_CREATED' && byHost.includes('deployment.inputs.'),
  },
]

const verdicts: Verdict[] = []

beforeAll(async () => {
  const environment = { TENANT_MAIL_TOKEN: credentials.tenantMailToken }
  const { send, validate } = await startContract({ environment })
  for (const sample of samples) {
    for (const each of variationsOf(sample)) {
      const { id, deployment } = each.event
      // Each has its own delivery and deployment.
      if (id === 'evt') each.event.id = `evt_${verdicts.length}`
      if (Object(deployment).id === 'dep_2') Reflect.set(Object(deployment), 'id', `dep_${verdicts.length}`)
      const answer = await send(each.route, each.event)
      const { code, errors, detail } = Object(answer.body)
      const schema = `${each.route.replaceAll(/(?:^|-)(\w)/g, (_, first) => first.toUpperCase())}Event`
      verdicts.push({
        sample: each,
        answer,
        byHost: misfits.includes(code) ? `${code} ${JSON.stringify(errors ?? detail)}` : '',
        byDocument: validate(`#/components/schemas/${schema}`, each.event),
      })
    }
  }
})

/** Unexplained differences, and reasons that explain none. */
function unexplained(differing: readonly Verdict[], differences: readonly Difference[]): string[] {
  const open = differing
    .filter((each) => !differences.some(({ explains }) => explains(each)))
    .map(
      ({ sample, byHost }) =>
        `${sample.route} ${JSON.stringify(sample.event.name)} ${JSON.stringify(sample.change)} ${byHost}`,
    )
  const idle = differences.filter(({ explains }) => !differing.some(explains))
  return [...open, ...idle.map(({ reason }) => `explains nothing: ${reason}`)]
}

describe('valid events and their variations', () => {
  it('are many', () => {
    expect(verdicts.filter(({ byHost }) => byHost === '').length).toBeGreaterThan(300)
    expect(verdicts.filter(({ byHost }) => byHost !== '').length).toBeGreaterThan(1_000)
  })

  it('are accepted by the host and the document if they are valid', () => {
    const fitting = verdicts.filter(({ sample }) => !sample.change)
    expect(fitting.filter(({ byHost, byDocument }) => byHost !== '' || byDocument.length > 0)).toEqual([])
  })

  it('are valid by the document if the host accepts them, with the listed exceptions', () => {
    const differing = verdicts.filter(({ byHost, byDocument }) => byHost === '' && byDocument.length > 0)
    expect(unexplained(differing, taken)).toEqual([])
  })

  it('are accepted by the host if the document does, with the listed exceptions', () => {
    const differing = verdicts.filter(({ byHost, byDocument }) => byHost !== '' && byDocument.length === 0)
    expect(unexplained(differing, refused)).toEqual([])
  })
})
