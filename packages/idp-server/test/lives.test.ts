/**
 * Random lives of two deployments whose hosts die and whose tokens are rotated, while people work in the provider's
 * dashboard and requests get lost. `SEED` repeats a run, and `LIVES` sets its size. A failure prints the shortest life
 * that shows it.
 */
import { memoryStore } from '@org/core'
import { connectPlatform } from '@org/core/testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createHaltingHost } from '../../core/test/lives/halting-host.ts'
import { blindList, onCreate, runWorld } from './support.ts'

const world = runWorld()
const { provider, platform } = world

const lives = Number(process.env.LIVES ?? 100)
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const LEASE_MS = 30_000

// A host that died leaves the timers of its claims.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

type Owner = 'host' | 'tenant'
const owners = ['host', 'tenant'] as const
const of = fc.constantFrom('dep_1', 'dep_2')
const name = fc.constantFrom('Shop', 'Market')
const owner = fc.constantFrom(...owners)
const does = <const Name extends string>(...names: Name[]) => fc.constantFrom(...names)
/** The request of its host, to the store, the provider or the platform, at which it dies. */
const halt = fc.option(
  fc.record({
    at: fc.integer({ min: 1, max: 20 }),
    when: fc.constantFrom('before' as const, 'after' as const),
  }),
  { nil: undefined },
)
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: does('create'), of, name, owner, halt }) },
  { weight: 2, arbitrary: fc.record({ does: does('forget'), of, name, halt }) },
  { weight: 2, arbitrary: fc.record({ does: does('delete'), of, halt }) },
  { weight: 1, arbitrary: fc.record({ does: does('early event'), of, name }) },
  { weight: 2, arbitrary: fc.record({ does: does('rotate', 'rotate and revoke'), owner }) },
  { weight: 3, arbitrary: fc.record({ does: does('rename', 'remove', 'add instance'), of }) },
  { weight: 1, arbitrary: fc.record({ does: does('rename another'), name, owner }) },
  { weight: 3, arbitrary: fc.record({ does: does('lose request', 'lose answer', 'hide list') }) },
)
type Move = typeof move extends fc.Arbitrary<infer Kind> ? Kind : never
type Halt = typeof halt extends fc.Arbitrary<infer Kind> ? Kind : never

/** Creations and updates that succeeded. */
let ran = 0

/** What is true of a deployment. */
class Deployment {
  owner: Owner = 'host'
  /** The name in the last event that was done. */
  given: string | undefined
  /** The name that the application must have: that of the last change, or the owner's. */
  name: string | undefined
  isRunning = false
}

async function live(moves: Move[]): Promise<void> {
  provider.reset()
  platform.reset()
  const tokens = { host: ['ak_host_0'], tenant: ['ak_tenant_0'] }
  const revoked = new Set<string>()
  let time = Date.now()
  const now = () => time
  const store = memoryStore({ now })
  const deployments = new Map(['dep_1', 'dep_2'].map((id) => [id, new Deployment()]))
  allow()
  // Applications that people made.
  const others = owners.flatMap((owner) =>
    ['One', 'Two', 'Three'].map((name) => provider.addApplication({ name }, owner)),
  )

  /** The host and the tenant have a workspace each. */
  function allow() {
    const made = owners.flatMap((owner) => tokens[owner].map((token): [string, Owner] => [token, owner]))
    provider.settings.workspaces = Object.fromEntries(made)
    provider.settings.accessTokens = made.flatMap(([token]) => (revoked.has(token) ? [] : token))
  }

  const applicationOf = (id: string) =>
    provider.applications.get(String(platform.deployments.get(id)?.outputs.applicationId))
  const withToken = (owner: Owner) => ({ platformApiKey: owner === 'tenant' ? tokens.tenant[0] : '' })

  /** A new host for each event, a second later. */
  function next(halt?: Halt) {
    time += 1_000
    const { halted, ...outside } = createHaltingHost({ halt }, store)
    const host = world.host({
      ...{ now, settleMs: 0, platformApiKey: tokens.host.join(' ') },
      ...{ store: outside.store, fetch: outside.provider(fetch) },
      platform: connectPlatform(outside.platform(platform.fetch)),
    })
    return { ...host, halted, timestamp: new Date(time).toISOString() }
  }
  type Host = ReturnType<typeof next>

  /** Sends an event. If its host dies, the successor gets it again. */
  async function survive(send: (host: Host) => ReturnType<Host['send']>, halt?: Halt) {
    const host = next(halt)
    const answer = await Promise.race([send(host), host.halted])
    time += LEASE_MS
    const { body } = answer ?? (await send({ ...next(), timestamp: host.timestamp }))
    return Object(body)
  }

  async function create(id: string, name: string, owner: Owner, halt?: Halt) {
    const deployment = deployments.get(id) ?? expect.fail()
    const given = { applicationName: name, ...withToken(owner) }
    const { status } = await survive((host) => host.create(given, { id, timestamp: host.timestamp }), halt)
    if (status !== 'running') return
    ran += 1
    if (!deployment.isRunning || deployment.given !== name) deployment.name = name
    Object.assign(deployment, { owner, given: name, isRunning: true })
  }

  /** The platform knows a new deployment until its application is created. */
  async function forget(id: string, name: string, halt?: Halt) {
    if (deployments.get(id)?.isRunning) return
    platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {}, times: 9 })
    await create(id, name, 'host', halt)
    platform.faults.clear()
  }

  async function remove(id: string, owner: Owner, halt?: Halt, deleteAddedInstances?: boolean) {
    const inputs = { applicationName: 'Shop', ...withToken(owner), deleteAddedInstances }
    const answer = await survive((host) => host.remove({ id, inputs, timestamp: host.timestamp }), halt)
    if (answer.status === 'stopped') deployments.set(id, new Deployment())
    return answer
  }

  /** An event that comes before the platform's own commit. */
  async function sendEarly(id: string, applicationName: string) {
    if (platform.deployments.has(id)) return
    const deployment = { id, inputs: { applicationName } }
    const { timestamp, send } = next()
    const event = { name: 'DEPLOYMENT_CREATED', deployment, timestamp }
    expect((await send(event)).body).toMatchObject({ retryable: true })
  }

  function rotate(owner: Owner, revokes: boolean) {
    const all = tokens[owner]
    if (revokes) for (const token of all) revoked.add(token)
    all.unshift(`ak_${owner}_${all.length}`)
    allow()
  }

  /** What the owner of a deployment does to its application. */
  function useDashboard(id: string, does: string) {
    const deployment = deployments.get(id)
    const application = applicationOf(id)
    if (!application || !deployment?.isRunning) return
    const { applicationId, instances } = application
    if (does === 'remove') provider.removeApplication(applicationId)
    if (does === 'rename') application.name = deployment.name = 'Mine'
    if (does === 'add instance' && instances.length === 1)
      provider.addInstance(applicationId, `${id}.example`)
  }

  async function take(move: Move): Promise<void> {
    switch (move.does) {
      case 'create':
        return create(move.of, move.name, move.owner, move.halt)
      case 'forget':
        return forget(move.of, move.name, move.halt)
      case 'early event':
        return sendEarly(move.of, move.name)
      case 'delete':
        return void (await remove(move.of, deployments.get(move.of)?.owner ?? 'host', move.halt))
      case 'rotate':
      case 'rotate and revoke':
        return rotate(move.owner, move.does !== 'rotate')
      case 'rename another':
        return void Object.assign(others[move.owner === 'host' ? 0 : 3] ?? {}, { name: move.name })
      case 'hide list':
        return provider.faults.add(blindList)
      case 'lose request':
      case 'lose answer':
        return provider.faults.add({ ...onCreate, cut: move.does === 'lose request' ? 'before' : 'after' })
      default:
        return useDashboard(move.of, move.does)
    }
  }

  /** The applications of people are as they left them, and each published one is another, with the right name. */
  function check() {
    for (const other of others) expect(provider.applications.get(other.applicationId)).toBe(other)
    for (const [id, { isRunning, name }] of deployments) {
      const application = applicationOf(id)
      if (!isRunning || !application) continue
      expect([others.includes(application), application.name]).toEqual([false, name])
    }
  }

  /** Every deployment can be deleted, by an owner who does what the responses say. */
  async function end(id: string) {
    for (const owner of [...owners, ...owners, ...owners]) {
      const { status, code, detail } = await remove(id, owner, undefined, true)
      if (status === 'stopped') return
      expect(code).toBeOneOf(['credentials_rejected', 'outcome_unknown'])
      const [named = ''] = /app_\w+/.exec(detail) ?? []
      if (code === 'outcome_unknown') provider.removeApplication(named)
    }
    // Contract §4: a 404 under another token than the one that created it is no deletion.
    const isGoneByHand = deployments.get(id)?.owner === 'tenant' && tokens.tenant.length > 1
    expect([id, isGoneByHand && !applicationOf(id)]).toEqual([id, true])
  }

  for (const one of moves) {
    await take(one)
    check()
  }
  provider.faults.clear()
  for (const id of deployments.keys()) await end(id)
  expect([...provider.applications.values()]).toEqual(others)
}

it(
  `no life leaves an orphan, loses an update or touches what people made, from seed ${seed}`,
  async () => {
    const property = fc.asyncProperty(fc.array(move, { maxLength: 16, size: 'max' }), live)
    await fc.assert(property, { seed, numRuns: lives })
    expect(ran).toBeGreaterThan(lives)
  },
  20_000 + 200 * lives,
)
