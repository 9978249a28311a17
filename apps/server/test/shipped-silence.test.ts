/** Deployments whose own servers are silent, and what they cost others. */
import { spawnSync } from 'node:child_process'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { calling, mail, mailDeployment } from './hosted.ts'
import { listen } from './raw-server.ts'
import { surround } from './surrounded.ts'

const NAME_SERVER = '127.53.53.53'
const resolvConf = join(mkdtempSync(join(tmpdir(), 'names-')), 'resolv.conf')
writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\n`)
/** Runs a command that sees another /etc/resolv.conf. */
const withNameServer = [
  ...['unshare', '-m', 'sh', '-c'],
  ...[`mount --bind ${resolvConf} /etc/resolv.conf && exec "$@"`, 'sh'],
]
const [unshare = '', ...mount] = withNameServer
const canMount = spawnSync(unshare, [...mount, 'true']).status === 0
if (!canMount) process.stderr.write('SKIPPED: a silent name server. It needs the right to mount.\n')

const nameServer = createSocket('udp4')
const queries: string[] = []

/** The response to a query for an IPv4 address (RFC 1035 §4): the loopback interface. */
function toLoopback(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  return Buffer.concat([
    header,
    question,
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]),
  ])
}

/** Answers nothing but where the names of `inner` are, and only for IPv4. */
function answerInner(query: Buffer, { address, port }: RemoteInfo): void {
  queries.push(query.toString('latin1'))
  const type = query[query.indexOf(0, 12) + 2]
  if (type === 1 && query.includes('inner')) nameServer.send(toLoopback(query), port, address)
}

nameServer.on('message', answerInner)
if (canMount) await new Promise<void>((resolve) => nameServer.bind(53, NAME_SERVER, resolve))
const { variables, ship } = await surround()
/** Accepts connections, and answers nothing. EGRESS_ALLOW lists it. */
const silent = await listen(() => {})
const environment = {
  // A name, so that the call to the host's own provider needs a look-up, too.
  MAILER_API_BASE: variables.MAILER_API_BASE?.replace('127.0.0.1', 'localhost'),
  EGRESS_ALLOW: silent.host,
  REQUEST_TIMEOUT_MS: '4000',
}
const host = ship({ environment, within: canMount ? withNameServer : [] })
afterAll(() => {
  silent.close()
  nameServer.close()
})

const send = (event: object, to = host) => to.send('mailer', event)
const health = (id: string, server: string) => ({
  name: 'HEALTH_CHECK',
  deployment: mailDeployment(id, server),
})
const sendMail = () => send(calling('sendEmail', mail))
const unhealthy = { status: 200, body: { status: 'unhealthy' } }

describe.skipIf(!canMount)(
  'while the name server of a deployment’s own server is silent, the bundled host',
  () => {
    const isAsked = (name: string) => queries.some((query) => query.includes(name))

    it('sends the mails of others at once', async () => {
      const names = ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5', 'dead-6']
      const answered: string[] = []
      const checks = names.map(async (name) => {
        const answer = await send(health('dep_1', `https://${name}.example.com`))
        answered.push(name)
        return answer
      })
      await expect.poll(() => names.filter(isAsked).length).toBe(names.length)
      expect(await sendMail()).toMatchObject({ status: 200 })
      expect(answered).toEqual([])
      for (const answer of await Promise.all(checks)) expect(answer).toMatchObject(unhealthy)
    })

    it('connects to no private address behind a name, although no answer comes for the other kind of address', async () => {
      const before = silent.connections()
      const [, port] = silent.host.split(':')
      const event = calling('getDeliveryStats')
      const deployment = mailDeployment('dep_2', `https://inner.example.com:${port}`)
      const answer = await send({ ...event, deployment })
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_inputs' } })
      expect(silent.connections()).toBe(before)
    })

    it('says that a mail was not sent, so that the platform may deliver it again', async () => {
      const deployment = mailDeployment('dep_1', 'https://dead-send.example.com')
      const answer = await send({ ...calling('sendEmail', mail), deployment })
      expect(answer).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
      // For both kinds of address, twice: the call was not tried again, or the event would take three times as long.
      expect(queries.filter((query) => query.includes('dead-send')).length).toBeLessThanOrEqual(4)
    })
  },
)

it('the bundled host works on 16 events that call one silent server, refuses more at once, and sends the mails of others', async () => {
  // Even on a busy machine, all events arrive before the time of the first is over.
  const patient = ship({ environment: { ...environment, REQUEST_TIMEOUT_MS: '60000' } })
  const refused: unknown[] = []
  const check = async (id: string) => {
    const answer = await send(health(id, `http://${silent.host}`), patient)
    if (answer.status === 503) refused.push(answer.body)
  }
  // Those that are under way end with the host.
  for (let count = 0; count < 130; count += 1) check(`dep_${count % 4}`).catch(() => {})
  await expect.poll(() => refused.length).toBe(114)
  expect(refused[0]).toMatchObject({ code: 'overloaded', retryable: true })
  expect(silent.connections()).toBe(16)
  expect(await send(calling('sendEmail', mail), patient)).toMatchObject({ status: 200 })
})
