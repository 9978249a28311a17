import { memoryStore } from '@org/core'
import { describe, expect, it } from 'vitest'
import { startContract } from './contract.ts'
import { calling, mail, mailDeployment } from './hosted.ts'

// `send` and `ask` fail if a response is not one of the document's. The valid events are in contract-requests.
const contract = await startContract()

const deployments: Record<string, { id: string; inputs: object }> = {
  mailer: mailDeployment('dep_mailer'),
  idp: { id: 'dep_idp', inputs: { serverType: 'shared' } },
  'idp-server': { id: 'dep_idp-server', inputs: { applicationName: 'Shop' } },
}
const get = (path: string) => new Request(`http://host.test${path}`)

describe('the response matches the document', () => {
  it.each(Object.entries(deployments))(
    'during an outage of the provider, and after the end of the deployment: /%s/webhook',
    async (route, deployment) => {
      const { world, send } = contract
      const created = { name: 'DEPLOYMENT_CREATED', deployment }
      world.platform.addDeployment({ id: deployment.id })
      expect((await send(route, created)).body).toMatchObject({ status: 'running' })
      for (const { faults } of [world.mail, world.backend])
        faults.add({ status: 503, headers: { 'retry-after': '600' } })
      const { body } = await send(route, { ...created, name: 'HEALTH_CHECK' })
      expect(body).toMatchObject({ status: 'unhealthy', checks: [{ healthy: false }] })
      for (const { faults } of [world.mail, world.backend]) faults.clear()
      const { body: deleted } = await send(route, { ...created, name: 'DEPLOYMENT_DELETED' })
      expect(deleted).toEqual({ status: 'stopped' })
      expect((await send(route, created)).body).toMatchObject({ status: 'ignored' })
    },
  )

  it('to a challenge without a challenge, a download of another file, and a page of users', async () => {
    const { send } = contract
    expect((await send('mailer', { name: 'WEBHOOK_CHALLENGE' })).body).toEqual({ status: 'ok' })
    const download = { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1', file: 'middleware.ts' } }
    expect((await send('idp', download)).body).toMatchObject({ files: [{ path: 'middleware.ts' }] })
    const { body } = await send('idp', calling('listUsers', { limit: 1 }))
    expect(body).toMatchObject({ result: { nextCursor: expect.any(String) } })
  })

  it('to a redelivery: with the header of a replay, and without sensitive outputs', async () => {
    const sendTwice = async (event: object, id: string) => {
      const first = await contract.send('mailer', event, { id })
      const second = await contract.send('mailer', event, { id })
      expect(second.headers.get('idempotency-replayed')).toBe('true')
      return [first, second] as const
    }
    contract.world.platform.addDeployment({ id: 'dep_again' })
    const event = { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_again') }
    const [first, second] = await sendTwice(event, 'evt_again')
    expect(first.body).toHaveProperty('outputs.apiToken')
    expect(second.body).not.toHaveProperty('outputs.apiToken')
    expect((await sendTwice(calling('sendEmail', mail), 'evt_call'))[1].status).toBe(200)
    expect((await sendTwice(calling('sendEmail', { to: 'x' }), 'evt_refused'))[1].status).toBe(422)
  })

  it.each(['/healthz', '/readyz', '/integrations', '/openapi.json', '/docs', '/metrics'])(
    'to GET %s',
    async (path) => {
      expect(await contract.ask('get', path, get(path))).toMatchObject({ status: 200 })
    },
  )

  it('to GET /readyz of a host that can’t reach its store', async () => {
    const away = { ...memoryStore(), probe: () => Promise.reject(new Error('The store is away.')) }
    const { ask } = await startContract({ store: away })
    expect(await ask('get', '/readyz', get('/readyz'))).toMatchObject({ status: 503 })
  })

  it('to GET /deliveries/{id} of a recorded delivery', async () => {
    await contract.send('mailer', calling('sendEmail', mail), { id: 'evt_recorded' })
    const recorded = await contract.ask('get', '/deliveries/{id}', get('/deliveries/evt_recorded'))
    expect(recorded).toMatchObject({ status: 200 })
  })
})
