import { serve } from '@org/core/testing'
import { createHost, readConfig } from '@org/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { StartHost } from '../src/elsewhere.ts'
import type { Environment } from '../src/environment.ts'
import { createPrinter } from '../src/print.ts'
import { runWalks } from '../src/walk/run-walks.ts'
import { startWorld } from '../src/world.ts'
import { quickWalks } from './arrangement.ts'

/** A host of which nothing is known but where it answers. */
const startHost: StartHost = (variables) => {
  const host = createHost(readConfig(variables), { environment: variables, logger: () => {} })
  return serve(async (request) => host.fetch(request))
}

async function startForTest(environment: Environment = {}) {
  const world = await startWorld({ PORT: '0', ...environment }, { startHost })
  onTestFinished(world.close)
  return world
}

describe('a host that runs elsewhere', () => {
  it('is walked through as one in this process is: what it calls is seen at those whom it calls', async () => {
    const world = await startForTest({ PLATFORM_WEBHOOK_SECRET: `whsec_${btoa('a secret')}` })
    let output = ''
    const write = (text: string) => {
      output += text
    }
    const terminal = { write, writeError: write, width: 100, colours: false }
    const { passed, failed } = await runWalks(
      quickWalks,
      world,
      createPrinter(terminal, world),
      new AbortController().signal,
    )
    expect(failed, output).toBe(0)
    expect(passed).toBe(quickWalks.flatMap(({ steps }) => steps).length)
  })

  it('meets a connection that is cut as such', async () => {
    const world = await startForTest()
    world.mail.emulator?.faults.add({ path: '/server', cut: 'before', times: 9 })
    const { answer, calls } = await world.deliver('mailer', { name: 'HEALTH_CHECK' }, 'evt_1')
    expect(answer.body).toMatchObject({ status: 'unhealthy' })
    expect(calls).not.toEqual([])
    for (const call of calls)
      expect(call).toMatchObject({ path: '/server', status: undefined, failure: 'connection cut' })
  })

  it('needs providers that can be watched', async () => {
    const keys = { IDP_SHARED_PUBLISHABLE_KEY: 'pk_test_x', IDP_SHARED_SECRET_KEY: 'sk_test_x' }
    await expect(startForTest(keys)).rejects.toThrow('IDP_API_BASE, which is not emulated')
  })
})
