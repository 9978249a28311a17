/** DEPLOYMENT_DELETED of an application that got an instance at the provider, with the customer's users. */
import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { only } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, create, remove, deployment, logged, statuses } = fixture

const inputs = { applicationName: 'Shop' }
const stopped = { status: 200, body: { status: 'stopped' } }
const removal = (rest: object) => ({ name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1', ...rest } })

/** Deploys in development, and adds a production instance as a person does. */
async function deployed() {
  expect((await create()).status).toBe(200)
  const { applicationId, instances } = only(provider.applications.values())
  const instance = provider.backend.addInstance({ environmentType: 'production' })
  instances.push(instance)
  return { applicationId, instances, instanceId: instance.id }
}

describe('a deletion with an added instance', () => {
  it('is refused with the instance and the two ways on, and leaves the deployment running', async () => {
    const { applicationId, instanceId } = await deployed()
    const before = statuses()
    expect(await remove('evt_1')).toMatchObject({
      status: 422,
      body: {
        code: 'deletion_refused',
        retryable: false,
        detail: expect.stringMatching(
          new RegExp(`${applicationId}.*production.*${instanceId}.*deleteAddedInstances`),
        ),
        errors: [{ path: 'deployment.inputs.deleteAddedInstances' }],
      },
    })
    expect([statuses(), deployment()?.status]).toEqual([before, 'running'])
    expect(logged('error')).toEqual([expect.stringContaining(instanceId)])
    expect(provider.applications.size).toBe(1)
  })

  it('is looked at again by a redelivery, and done once the instance is gone', async () => {
    const { instances } = await deployed()
    expect((await remove('evt_1')).status).toBe(422)
    instances.pop()
    expect(await remove('evt_1')).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('is done if its own inputs say so, and not if those of the platform do', async () => {
    await deployed()
    const consent = { ...inputs, deleteAddedInstances: true }
    Object.assign(deployment() ?? {}, { inputs: consent })
    expect((await remove()).status).toBe(422)
    expect((await fixture.send(removal({ inputs: { deleteAddedInstances: 'no' } }))).status).toBe(422)
    expect(await fixture.send(removal({ inputs: consent }))).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it.each([
    ['the published instance', undefined],
    ['nothing, and the application has two instances', {}],
  ])('is refused also if the store was replaced, and the host knows %s', async (_, outputs) => {
    const { applicationId } = await deployed()
    // A redeploy records no instance that it did not make.
    expect((await create()).status).toBe(200)
    const event = removal(outputs ? { outputs: { applicationId } } : {})
    if (outputs) platform.removeDeployment('dep_1')
    const answer = await deliver(fixture.handler({ store: memoryStore() }), event)
    expect(answer).toMatchObject({ status: 422, body: { code: 'deletion_refused' } })
    expect(provider.applications.size).toBe(1)
  })
})
