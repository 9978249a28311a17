/** Deployments whose own servers are silent, and what they cost others. */
import { spawnSync } from 'node:child_process'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { calling, createFolder, mail, mailDeployment } from './hosted.ts'
import { listen } from './raw-server.ts'
import { surround } from './surrounded.ts'

const NAME_SERVER = '127.53.53.53'
const resolvConf = `${createFolder()}/resolv.conf`
writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\n`)
/** Runs a command that sees another /etc/resolv.conf. */
const [unshare, ...mount] = [
  ...(['unshare', '-m', 'sh', '-c'] as const),
  ...[`mount --bind ${resolvConf} /etc/resolv.conf && exec "$@"`, 'sh'],
]
const canMount = spawnSync(unshare, [...mount, 'true']).status === 0
if (!canMount) process.stderr.write('SKIPPED: a silent name server. It needs the right to mount.\n')

const nameServer = createSocket('udp4')
const queries: string[] = []

/** The response to a query for an IPv4 address (RFC 1035 §4): the loopback interface. */
function toLoopback(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const header = [...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
  return Buffer.from([...header, ...question, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
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
const startHost = (REQUEST_TIMEOUT_MS: string) =>
  ship({
    environment: {
      // A name, so that the call to the host's own provider needs a look-up, too.
      MAILER_API_BASE: variables.MAILER_API_BASE.replace('127.0.0.1', 'localhost'),
      EGRESS_ALLOW: silent.host,
      REQUEST_TIMEOUT_MS,
    },
    within: canMount ? [unshare, ...mount] : [],
  })
const host = startHost('10000')
/** Its events wait for longer than any test takes. Those that are under way end with it. */
const patient = startHost('300000')
afterAll(() => {
  silent.close()
  nameServer.close()
})

const health = (id: string, server: string) => ({
  name: 'HEALTH_CHECK',
  deployment: mailDeployment(id, server),
})
const sendMail = calling('sendEmail', mail)
const queriesOf = (name: string) => queries.filter((query) => query.includes(name))

// At the same time, because they mostly wait.
const whileSilent = 'while the name server of a deployment’s own server is silent, the bundled host'
describe.skipIf(!canMount).concurrent(whileSilent, () => {
  it('sends the mails of others at once', async ({ expect }) => {
    const names = ['dead-1', 'dead-2', 'dead-3', 'dead-4', 'dead-5', 'dead-6']
    for (const name of names)
      patient.send('mailer', health('dep_1', `https://${name}.example.com`)).catch(() => {})
    await expect.poll(() => names.filter((name) => queriesOf(name).length > 0)).toEqual(names)
    expect(await patient.send('mailer', sendMail)).toMatchObject({ status: 200 })
  })

  it('connects to no private address behind a name, although no answer comes for the other kind of address', async ({
    expect,
  }) => {
    const before = silent.connections()
    const [, port] = silent.host.split(':')
    const deployment = mailDeployment('dep_2', `https://inner.example.com:${port}`)
    const ask = () => host.send('mailer', { ...calling('getDeliveryStats'), deployment })
    // On a busy machine, the answer of the name server may come too late for a call.
    await expect.poll(ask).toMatchObject({ status: 422, body: { code: 'invalid_inputs' } })
    expect(silent.connections()).toBe(before)
  })

  it('says that a mail was not sent, so that the platform may deliver it again', async ({ expect }) => {
    const deployment = mailDeployment('dep_1', 'https://dead-send.example.com')
    const answer = await host.send('mailer', { ...sendMail, deployment })
    expect(answer).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    // For both kinds of address, twice: the call was not tried again, or the event would take three times as long.
    expect(queriesOf('dead-send').length).toBeLessThanOrEqual(4)
  })
})

it('the bundled host refuses most events that call one silent server at once, and sends the mails of others', async () => {
  const refused: unknown[] = []
  const check = async (id: string) => {
    const answer = await patient.send('mailer', health(id, `http://${silent.host}`))
    if (answer.status === 503) refused.push(answer.body)
  }
  for (let count = 0; count < 130; count += 1) check(`dep_${count % 4}`).catch(() => {})
  // 114 at first. On a busy machine, the first ones end meanwhile.
  await expect.poll(() => refused.length).toBeGreaterThan(50)
  expect(refused[0]).toMatchObject({ code: 'overloaded', retryable: true })
  expect(await patient.send('mailer', sendMail)).toMatchObject({ status: 200 })
})
