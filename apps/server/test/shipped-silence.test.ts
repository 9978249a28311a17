/**
 * Deployments whose own servers are silent, and what they cost others.
 */

import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deliver } from '@org/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret, startSurroundings } from './deployed.ts'
import { calling, mail, mailDeployment } from './hosted.ts'
import { type Shipped, startShipped } from './shipped.ts'

const NAME_SERVER = '127.53.53.53'
const resolvConf = join(mkdtempSync(join(tmpdir(), 'names-')), 'resolv.conf')
writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\n`)
/** Runs a command that sees another /etc/resolv.conf. */
const withNameServer = [
  'unshare',
  '-m',
  'sh',
  '-c',
  `mount --bind ${resolvConf} /etc/resolv.conf && exec "$@"`,
  'sh',
]
const [unshare = '', ...mount] = withNameServer
const canMount = spawnSync(unshare, [...mount, 'true']).status === 0
if (!canMount) process.stderr.write('SKIPPED: a silent name server. It needs the right to mount.\n')

describe.skipIf(!canMount)(
  'while the name server of a deployment’s own server is silent, the bundled host',
  () => {
    const server = createSocket('udp4')
    const asked: string[] = []
    let around: Awaited<ReturnType<typeof startSurroundings>>
    let host: Shipped
    beforeAll(async () => {
      server.on('message', (query) => asked.push(query.toString('latin1')))
      await new Promise<void>((resolve) => server.bind(53, NAME_SERVER, resolve))
      around = await startSurroundings()
      // A name, so that the call to the host's own provider needs a look-up, too.
      const MAILER_API_BASE = around.variables.MAILER_API_BASE?.replace('127.0.0.1', 'localhost')
      const environment = { ...around.variables, MAILER_API_BASE, REQUEST_TIMEOUT_MS: '4000' }
      host = startShipped({ environment, within: withNameServer })
      await host.url
    })
    afterAll(async () => {
      host.kill('SIGKILL')
      await host.exit
      await around.close()
      server.close()
    })

    const send = async (event: object) =>
      deliver(fetch, event, { id: crypto.randomUUID(), secret, url: `${await host.url}/mailer/webhook` })
    const deploymentAt = (name: string) => mailDeployment('dep_1', `https://${name}.example.com`)
    const isAsked = (name: string) => asked.some((query) => query.includes(name))

    it('sends the mails of others at once', async () => {
      const names = ['dead-1', 'dead-2', 'dead-3', 'dead-4']
      const answered: string[] = []
      const checks = names.map(async (name) => {
        const answer = await send({ name: 'HEALTH_CHECK', deployment: deploymentAt(name) })
        answered.push(name)
        return answer
      })
      await expect.poll(() => names.filter(isAsked).length).toBeGreaterThanOrEqual(2)
      expect(await send(calling('sendEmail', mail))).toMatchObject({ status: 200 })
      expect(answered).toEqual([])
      for (const answer of await Promise.all(checks))
        expect(answer).toMatchObject({ status: 200, body: { status: 'unhealthy' } })
    }, 15_000)

    it('says that a mail was not sent, so that the platform may deliver it again', async () => {
      const answer = await send({ ...calling('sendEmail', mail), deployment: deploymentAt('dead-send') })
      expect(isAsked('dead-send')).toBe(true)
      expect(answer).toMatchObject({ body: { retryable: true } })
    }, 15_000)
  },
)
