/** The log and the metrics of the bundle while something that it needs fails. */
import { spawnSync } from 'node:child_process'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { cert, key } from './expired-certificate.ts'
import { calling, mail } from './hosted.ts'
import { portOf } from './raw-server.ts'
import { bundle, secret } from './shipped.ts'
import { open, signedPost, surround } from './surrounded.ts'

const around = await surround()
const deployment = { id: 'dep_1', inputs: { serverType: 'shared' } }
const mailOf = (id: string) => ({ ...calling('sendEmail', mail), deployment: { ...deployment, id } })
const metricsOf = (deployment: object) => ({ name: 'METRIC_UPDATE', deployment })

/** The address of a server on this machine that ends with the test. */
async function addressOf(server: Server): Promise<string> {
  onTestFinished(() => void server.close())
  return `127.0.0.1:${await portOf(server)}`
}

it('the line of an event names an expired certificate of the provider, the platform and the store, with its dates', async () => {
  const at = await addressOf(createServer({ key, cert }).on('tlsClientError', () => {}))
  const dates = 'valid from Jan  1 00:00:00 2026 GMT to Feb  1 00:00:00 2026 GMT'
  const reason = `CERT_HAS_EXPIRED: certificate has expired (${dates}) (${at})`
  const store = around.ship({ environment: { DELIVERY_STORE: `rediss://${at}` } })
  const { send, log } = around.ship({
    environment: { MAILER_API_BASE: `https://${at}`, PLATFORM_API_URL: `https://${at}` },
  })
  await send('mailer', mailOf('dep_1'))
  await send('mailer', metricsOf({ id: 'dep_1' }))
  expect(log.filter(({ event }) => event)).toMatchObject([
    { code: 'provider_error', reason, attempt: 1, notes: [{ reason }] },
    { code: 'platform_unavailable', level: 'error', reason },
  ])
  await expect.poll(() => store.log.some((line) => line.reason === reason)).toBe(true)
  await store.send('mailer', mailOf('dep_1'))
  const ofStore = { level: 'error', code: 'overloaded', reason: expect.stringContaining(reason) }
  expect(store.log.find(({ event }) => event)).toMatchObject(ofStore)
})

it.each([
  ['http://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
  ['http://nowhere.invalid', /^getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid/],
])('the line of an event says why nothing can be sent to %s', async (MAILER_API_BASE, reason) => {
  const { send, log } = around.ship({ environment: { MAILER_API_BASE } })
  await send('mailer', calling('sendEmail', mail))
  const line = { code: 'provider_error', reason: expect.stringMatching(reason) }
  expect(log.find(({ event }) => event)).toMatchObject(line)
})

it('the line of an event names a shortage of the host itself, and a metric counts it', async () => {
  around.reset()
  const host = around.ship({ within: ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh'] })
  // Loads what a send needs, and shows that it works.
  expect(await host.send('mailer', calling('sendEmail', mail))).toMatchObject({ status: 200 })
  const sender = await open(await host.url)
  const idle: Socket[] = []
  const lineOf = (id: string) => host.log.find(({ delivery, event }) => event && delivery === id)
  /** Takes every descriptor of the host, and sends a mail over the connection that stands. */
  async function sendInShortage() {
    const before = idle.length
    // The host closes the first connection that it has no descriptor for.
    while (!idle.slice(before).some(({ closed, readableEnded }) => closed || readableEnded)) {
      idle.push(await open(await host.url))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const id = `evt_${before}`
    sender.write(await signedPost(calling('sendEmail', mail), id))
    await expect.poll(() => lineOf(id)).toBeDefined()
    return lineOf(id)
  }
  // On a busy machine, an old connection ends meanwhile, and the mail has its descriptor.
  await expect.poll(sendInShortage).toMatchObject({
    ...{ function: 'sendEmail', code: 'overloaded', shortage: 'EMFILE' },
    reason: expect.stringMatching(/connect EMFILE (?!.*undefined)/),
  })
  await expect.poll(sender.received).toContain('"code":"overloaded"')
  for (const socket of idle) socket.destroy()
  const authorization = `Bearer ${around.variables.OPERATOR_TOKEN}`
  const scrape = async () => (await fetch(`${await host.url}/metrics`, { headers: { authorization } })).text()
  await expect.poll(() => scrape().catch(String)).toMatch(/host_shortages_total\{resource="EMFILE"\} [1-9]/)
})

it('a mail is found in the log by the hash that recipient.mjs prints, in the part of its batch, too', async () => {
  around.reset()
  const { send, log } = around.ship()
  const hashOf = (address: string, PLATFORM_WEBHOOK_SECRET: string) => {
    const env = { ...process.env, ...around.variables, PLATFORM_WEBHOOK_SECRET }
    const { stdout, stderr } = spawnSync(process.execPath, [join(bundle, 'recipient.mjs'), address], { env })
    return String(stdout) + String(stderr)
  }
  const find = (address: string) => {
    const secrets = `whsec_${btoa('another secret of the platform')} ${secret}`
    const [, hash = '-'] = hashOf(address, secrets).split('\n')
    return log.filter((line) => JSON.stringify(line).includes(hash))
  }
  const others = { cc: 'BOB@example.com', bcc: 'u@xn--mnchen-3ya.example' }
  await send('mailer', calling('sendEmail', { ...mail, to: 'Ada <ada@example.com>', ...others }))
  const to = ['no address', ...Array.from({ length: 450 }, (_, at) => `${at}@example.com`)]
  const batch = calling('sendEmails', { to, subject: 'News', textBody: 'x' })
  await send('mailer', { ...batch, deployment }, 'evt_1')
  const sent = [expect.objectContaining({ function: 'sendEmail', messageIds: [expect.any(String)] })]
  for (const address of ['ada@example.com', 'bob@example.com', 'u@xn--mnchen-3ya.example'])
    expect(find(address)).toEqual(sent)
  const inBatch = { deployment: 'dep_1', delivery: 'evt_1' }
  const recipients = { failed: [expect.any(String)], sent: { length: 199 } }
  expect(find('0@example.com')).toMatchObject([{ function: 'sendEmails', recipients, ...inBatch }])
  expect(find('449@example.com')).toMatchObject([{ message: 'Further messages', ...inBatch }])
  expect(JSON.stringify(log)).not.toMatch(/ada@example|449@example/)
  expect(hashOf('ada', secret)).toContain('Name a mail address')
})

it('a platform that never answers holds up no mail with inputs, and is asked no more', async () => {
  around.reset()
  const silent = createTcpServer((socket) => void socket.on('error', () => {}))
  const host = around.ship({ environment: { PLATFORM_API_URL: `http://${await addressOf(silent)}` } })
  const measure = (deployment: object) => host.send('mailer', metricsOf(deployment))
  const measured = Array.from({ length: 400 }, (_, at) => measure({ ...deployment, id: `dep_${at}` }))
  const statuses: number[] = []
  for (let at = 0; at < 300; at += 50) {
    const mails = Array.from({ length: 50 }, (_, index) => host.send('mailer', mailOf(`dep_${at + index}`)))
    for (const { status } of await Promise.all(mails)) statuses.push(status)
  }
  for (const { status } of await Promise.all(measured)) statuses.push(status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(around.mail.messages).toHaveLength(300)
  const lookUp = async () => {
    const answer = await measure({ id: 'dep_1' })
    expect(answer).toMatchObject({ status: 502, body: { code: 'platform_unavailable', retryable: true } })
    return host.log.at(-1)?.detail
  }
  // Now and then, one call finds out whether it is back.
  await expect.poll(lookUp).toBe('The platform failed too often and is not called now.')
})
