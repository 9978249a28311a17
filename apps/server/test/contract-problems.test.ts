import { memoryStore } from '@org/core'
import { errorCodes } from '@org/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { type GivenAnswer, startContract } from './contract.ts'
import { credentials } from './hosted.ts'
import { calling, mail } from './measured.ts'

type Contract = Awaited<ReturnType<typeof startContract>>

const create = (id: string, inputs: object) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
const post = (body: BodyInit, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  new Request('http://host.test/mailer/webhook', { method: 'POST', body, headers })
/** With a longer wait than any event has time for, so that no retry waits. */
const fault = (status: number) => ({ status, headers: { 'retry-after': '600' }, times: 9 })

/** How to provoke each failure; `contract` is a host without faults. */
const failures: Record<string, (contract: Contract) => Promise<GivenAnswer>> = {
  'invalid_json 400': ({ ask }) => ask('post', '/mailer/webhook', post('{')),
  'invalid_event 400': ({ send }) => send('mailer', { name: 'NONSENSE' }),
  async 'invalid_event 422'({ send }) {
    await send('mailer', calling('sendEmail', mail), { id: 'evt_twice' })
    return send('mailer', calling('sendEmail', { ...mail, subject: 'Other' }), { id: 'evt_twice' })
  },
  async 'invalid_signature 401'() {
    const { send } = await startContract({
      variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret },
    })
    return send('mailer', { name: 'HEALTH_CHECK' })
  },
  'not_found 404': ({ ask }) =>
    ask('get', '/deliveries/{id}', new Request('http://host.test/deliveries/evt_never')),
  'unknown_function 404': ({ send }) => send('mailer', calling('sendMail')),
  'method_not_allowed 405': ({ ask }) =>
    ask('post', '/mailer/webhook', new Request('http://host.test/mailer/webhook', { method: 'PUT' })),
  async 'delivery_in_progress 409'() {
    const store = memoryStore()
    const { send } = await startContract({ store })
    await store.claim({ subject: 'mailer/delivery/evt_busy', leaseMs: 60_000 })
    return send('mailer', calling('sendEmail', mail), { id: 'evt_busy' })
  },
  async 'outcome_unknown 409'({ world, send }) {
    world.mail.faults.add({ cut: 'after' })
    return send('mailer', calling('sendEmail', mail))
  },
  async 'body_too_large 413'() {
    const { send } = await startContract({ variables: { BODY_LIMIT: '1024' } })
    return send('mailer', calling('sendEmail', { ...mail, textBody: 'x'.repeat(1024) }))
  },
  'unsupported_media_type 415': ({ ask }) =>
    ask('post', '/mailer/webhook', post('{}', { 'content-type': 'text/plain' })),
  'invalid_inputs 422': ({ send }) => send('mailer', create('dep_1', { serverType: 'nonsense' })),
  'invalid_arguments 422': ({ send }) => send('mailer', calling('sendEmail', { ...mail, subjekt: 'Hi' })),
  'missing_credentials 422': ({ send }) => send('mailer', create('dep_2', { serverType: 'dedicated' })),
  'credentials_rejected 422': ({ send }) =>
    send('mailer', create('dep_3', { serverType: 'dedicated', apiToken: 'wrong' })),
  'provider_rejected 422': ({ send }) => send('idp', calling('getUser', { userId: 'user_never' })),
  async 'provider_rate_limited 429'({ world, send }) {
    world.mail.faults.add(fault(429))
    return send('mailer', calling('getDeliveryStats'))
  },
  async 'internal_error 500'() {
    // A store that says what no store may say.
    const broken = { ...memoryStore(), claim: () => Promise.resolve(JSON.parse('{ "state": "nonsense" }')) }
    const { send } = await startContract({ store: broken })
    return send('mailer', create('dep_1', {}))
  },
  async 'provider_error 502'({ world, send }) {
    world.mail.faults.add(fault(503))
    return send('mailer', calling('getDeliveryStats'))
  },
  async 'platform_unavailable 502'({ world, send }) {
    world.platform.faults.add(fault(503))
    return send('mailer', create('dep_4', { serverType: 'shared' }))
  },
  async 'shutting_down 503'() {
    const { host, send } = await startContract()
    await host.drain()
    return send('mailer', { name: 'HEALTH_CHECK' })
  },
  async 'overloaded 503'() {
    const away = { ...memoryStore(), claim: () => Promise.reject(new Error('The store is away.')) }
    const { send } = await startContract({ store: away })
    return send('mailer', create('dep_1', {}))
  },
  async 'provider_timeout 504'({ world, send }) {
    world.mail.faults.add(fault(408))
    return send('mailer', calling('getDeliveryStats'))
  },
}

let contract: Contract
beforeAll(async () => {
  contract = await startContract()
})

describe('a failure matches the document', () => {
  it.each(Object.entries(failures))('%s', async (name, provoke) => {
    const answer = await provoke(contract)
    for (const each of Object.values(contract.world))
      if (typeof each === 'object' && 'faults' in each) each.faults.clear()
    expect(`${Object(answer.body).code} ${answer.status}`).toBe(name)
  })

  it('for every code of the document', () => {
    const said = Object.values(contract.document.components.responses).flatMap((response) =>
      (response['x-problems'] ?? []).map(({ code }) => code),
    )
    expect(new Set(Object.keys(failures).map((name) => name.split(' ')[0]))).toEqual(new Set(said))
    expect(new Set(said)).toEqual(new Set(Object.keys(errorCodes)))
  })

  it('and has Retry-After only if it is retryable', async () => {
    contract.world.mail.faults.add(fault(429))
    const limited = await contract.send('mailer', calling('getDeliveryStats'))
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '600'])
    contract.world.mail.faults.clear()
    contract.world.mail.faults.add(fault(401))
    const rejected = await contract.send('mailer', calling('getDeliveryStats'))
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([422, null])
    contract.world.mail.faults.clear()
  })
})

it('an unknown route is answered with a problem of the document', async () => {
  const response = await contract.host.fetch(new Request('http://host.test/nowhere'))
  expect(
    contract.validate(
      '#/components/responses/Problem404/content/application~1problem+json/schema',
      await response.json(),
    ),
  ).toEqual([])
})
