import { type DeliveryStore, memoryStore } from '@org/core'
import { errorCodes } from '@org/core/internal'
import { expect, it } from 'vitest'
import { type HostResponse, startContract } from './contract.ts'
import { calling, credentials, mail } from './hosted.ts'

type Contract = Awaited<ReturnType<typeof startContract>>

const create = (id: string, inputs: object) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
const post = ({ ask }: Contract, init: RequestInit) =>
  ask('post', '/mailer/webhook', new Request('http://host.test/mailer/webhook', { method: 'POST', ...init }))
const json = { 'content-type': 'application/json' }
/** Asks for a longer wait than any event has time for, so nothing is retried. */
const fault = (status: number) => ({ status, headers: { 'retry-after': '600' } })
const startOn = (claim: DeliveryStore['claim']) => startContract({ store: { ...memoryStore(), claim } })

/** How to provoke each failure; `contract` is a host without faults. */
const failures: Record<string, (contract: Contract) => Promise<HostResponse>> = {
  'invalid_json 400': (contract) => post(contract, { headers: json, body: '{' }),
  'invalid_event 400': ({ send }) => send('mailer', { name: 'NONSENSE' }),
  async 'invalid_event 422'({ send }) {
    await send('mailer', calling('sendEmail', mail), { id: 'evt_twice' })
    return send('mailer', calling('sendEmail', { ...mail, subject: 'Other' }), { id: 'evt_twice' })
  },
  async 'invalid_signature 401'() {
    const variables = { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret }
    return (await startContract({ variables })).send('mailer', { name: 'HEALTH_CHECK' })
  },
  'not_found 404': ({ ask }) =>
    ask('get', '/deliveries/{id}', new Request('http://host.test/deliveries/evt_never')),
  'unknown_function 404': ({ send }) => send('mailer', calling('sendMail')),
  'method_not_allowed 405': (contract) => post(contract, { method: 'PUT' }),
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
  'unsupported_media_type 415': (contract) => post(contract, { body: '{}' }),
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
    const { send } = await startOn(() => Promise.resolve(JSON.parse('{ "state": "nonsense" }')))
    return send('mailer', create('dep_1', {}))
  },
  async 'deployment_deleted 422'({ send }) {
    await send('mailer', create('dep_5', { serverType: 'shared' }))
    await send('mailer', { name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_5' } })
    return send('mailer', { ...calling('getDeliveryStats'), deployment: { id: 'dep_5' } })
  },
  async 'deletion_refused 422'({ world, send }) {
    world.platform.addDeployment({ id: 'dep_6' })
    await send('idp-server', create('dep_6', { applicationName: 'Shop' }))
    const [application] = world.workspace.applications.values()
    application?.instances.push(world.workspace.backend.addInstance({ environmentType: 'production' }))
    return send('idp-server', { name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_6' } })
  },
  async 'provider_error 502'({ world, send }) {
    world.mail.faults.add(fault(503))
    return send('mailer', calling('getDeliveryStats'))
  },
  async 'platform_unavailable 502'({ world, send }) {
    world.platform.faults.add({ ...fault(503), times: 9 })
    return send('mailer', create('dep_4', { serverType: 'shared' }))
  },
  async 'shutting_down 503'() {
    const { host, send } = await startContract()
    await host.drain()
    return send('mailer', { name: 'HEALTH_CHECK' })
  },
  async 'overloaded 503'() {
    const { send } = await startOn(() => Promise.reject(new Error('The store is away.')))
    return send('mailer', create('dep_1', {}))
  },
  async 'provider_timeout 504'({ world, send }) {
    world.mail.faults.add(fault(408))
    return send('mailer', calling('getDeliveryStats'))
  },
}

const contract = await startContract()

it.each(Object.entries(failures))('the problem %s matches the document', async (name, provoke) => {
  const { status, body } = await provoke(contract)
  contract.world.platform.faults.clear()
  expect(`${Object(body).code} ${status}`).toBe(name)
})

it('the document and this suite have every code', () => {
  const described = Object.values(contract.document.components.responses).flatMap((response) =>
    (response['x-problems'] ?? []).map(({ code }) => code),
  )
  const provoked = Object.keys(failures).map((name) => name.split(' ')[0])
  const { aborted: _, ...answered } = errorCodes
  expect(new Set(described)).toEqual(new Set(Object.keys(answered)))
  expect(new Set(provoked)).toEqual(new Set(described))
})
