/** The log and the metrics of the bundle while something that it needs fails. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cert, key } from './expired-certificate.ts'
import { calling, mail } from './hosted.ts'
import { bundle, secret } from './shipped.ts'
import { open, signedPost, surround } from './surrounded.ts'

const around = await surround()
const deployment = { id: 'dep_1', inputs: { serverType: 'shared' } }
const mailOf = (id: string) => ({ ...calling('sendEmail', mail), deployment: { ...deployment, id } })

/** Listens on a free port, and resolves with it. */
async function portOf(server: ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

describe('the line of an event that fails in the bundled host', () => {
  it('names an expired certificate of the provider, the platform and the store, with its dates', async () => {
    const port = await portOf(createServer({ key, cert }).on('tlsClientError', () => {}))
    const at = `127.0.0.1:${port}`
    const host = around.ship({
      environment: { MAILER_API_BASE: `https://${at}`, PLATFORM_API_URL: `https://${at}` },
    })
    const dates = 'valid from Jan  1 00:00:00 2026 GMT to Feb  1 00:00:00 2026 GMT'
    const reason = `CERT_HAS_EXPIRED: certificate has expired (${dates}) (${at})`
    await Promise.all([
      host.send('mailer', mailOf('dep_1'), 'evt_1'),
      host.send('mailer', { name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } }, 'evt_2'),
    ])
    const lineOf = (id: string) => host.log.find(({ delivery, event }) => event && delivery === id)
    expect(['evt_1', 'evt_2'].map(lineOf)).toMatchObject([
      { delivery: 'evt_1', code: 'provider_error', reason, attempt: 1, notes: [{ reason }] },
      { delivery: 'evt_2', code: 'platform_unavailable', level: 'error', reason },
    ])

    const DELIVERY_STORE = `rediss://${at}`
    const unstored = around.ship({ environment: { DELIVERY_STORE } })
    await expect.poll(() => unstored.log.some((line) => line.reason === reason)).toBe(true)
    await unstored.send('mailer', mailOf('dep_1'), 'evt_1')
    expect(unstored.log.find(({ event }) => event)).toMatchObject({
      ...{ level: 'error', code: 'overloaded', reason: expect.stringContaining(reason) },
    })
  })

  it.each([
    ['a port that nobody listens on', 'http://127.0.0.1:1', 'connect ECONNREFUSED 127.0.0.1:1'],
    [
      'a name that does not exist',
      'http://nowhere.invalid',
      /^getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid/,
    ],
  ])('names %s', async (_, MAILER_API_BASE, reason) => {
    const host = around.ship({ environment: { MAILER_API_BASE } })
    await host.send('mailer', calling('sendEmail', mail))
    const line = { code: 'provider_error', reason: expect.stringMatching(reason) }
    expect(host.log.find(({ event }) => event)).toMatchObject(line)
  })

  it('names a shortage of the host itself, and counts it', async () => {
    around.reset()
    const host = around.ship({ within: ['sh', '-c', 'ulimit -n 60; exec "$@"', 'sh'] })
    // Loads what a send needs, and shows that it works.
    expect(await host.send('mailer', calling('sendEmail', mail))).toMatchObject({ status: 200 })
    const sender = await open(await host.url)
    const idle: Socket[] = []
    // The host closes the first connection that it has no descriptor for.
    while (!idle.some(({ closed, readableEnded }) => closed || readableEnded)) {
      idle.push(await open(await host.url))
      await new Promise((resolve) => setImmediate(resolve))
    }
    sender.write(await signedPost(calling('sendEmail', mail)))
    await expect.poll(sender.received).toContain('"code":"overloaded"')
    expect(host.log.at(-1)).toMatchObject({
      ...{ function: 'sendEmail', code: 'overloaded', shortage: 'EMFILE' },
      reason: expect.stringMatching(/connect EMFILE (?!.*undefined)/),
    })
    for (const socket of idle) socket.destroy()
    const authorization = `Bearer ${around.variables.OPERATOR_TOKEN}`
    const scrape = async () =>
      fetch(`${await host.url}/metrics`, { headers: { authorization } }).then(
        (response) => response.text(),
        () => '',
      )
    await expect.poll(scrape).toMatch(/host_shortages_total\{resource="EMFILE"\} [1-9]/)
  })
})

describe('a mail whose recipient asks for it', () => {
  const recipientOf = (address: string, secrets: string) => {
    const env = { ...process.env, ...around.variables, PLATFORM_WEBHOOK_SECRET: secrets }
    const { stdout, stderr } = spawnSync(process.execPath, [join(bundle, 'recipient.mjs'), address], { env })
    return String(stdout) + String(stderr)
  }

  it('is found in the log by the hash that recipient.mjs prints, in the part of its batch, too', async () => {
    around.reset()
    const host = around.ship()
    await host.send(
      'mailer',
      calling('sendEmail', {
        ...mail,
        to: 'Ada <ada@example.com>',
        cc: 'BOB@example.com',
        bcc: 'u@xn--mnchen-3ya.example',
      }),
    )
    const to = ['no address', ...Array.from({ length: 450 }, (_, at) => `${at}@example.com`)]
    await host.send(
      'mailer',
      { ...calling('sendEmails', { to, subject: 'News', textBody: 'x' }), deployment },
      'evt_1',
    )
    const rotated = `whsec_${btoa('another secret of the platform')} ${secret}`
    const find = (address: string) => {
      const [, hash = '-'] = recipientOf(address, rotated).trim().split('\n')
      return host.log.filter((line) => JSON.stringify(line).includes(hash))
    }
    for (const address of ['bob@example.com', 'u@xn--mnchen-3ya.example'])
      expect(find(address)).toEqual(find('ada@example.com'))
    expect(find('ada@example.com')).toMatchObject([
      { function: 'sendEmail', messageIds: [expect.any(String)] },
    ])
    const parts = ['0@example.com', '449@example.com'].map(find)
    expect(parts).toMatchObject([[{ function: 'sendEmails' }], [{ message: 'Further messages' }]])
    for (const [part] of parts) expect(part).toMatchObject({ deployment: 'dep_1', delivery: 'evt_1' })
    expect(parts[0]?.[0]?.recipients).toMatchObject({ failed: [expect.any(String)], sent: { length: 199 } })
    expect(JSON.stringify(host.log)).not.toMatch(/ada@example|449@example/)
    expect(recipientOf('', secret)).toContain('Name a mail address')
  })
})

describe('a platform that never answers', () => {
  it('holds up no mail with inputs, and is asked no more', async () => {
    around.reset()
    const platform = createTcpServer((socket) => void socket.on('error', () => {}))
    const PLATFORM_API_URL = `http://127.0.0.1:${await portOf(platform)}`
    const host = around.ship({ environment: { PLATFORM_API_URL } })
    const metricsOf = (deployment: object) => host.send('mailer', { name: 'METRIC_UPDATE', deployment })
    const measured = Array.from({ length: 400 }, (_, at) => metricsOf({ ...deployment, id: `dep_${at}` }))
    const statuses: number[] = []
    for (let at = 0; at < 300; at += 50) {
      const mails = Array.from({ length: 50 }, (_, index) => host.send('mailer', mailOf(`dep_${at + index}`)))
      for (const { status } of await Promise.all(mails)) statuses.push(status)
    }
    for (const { status } of await Promise.all(measured)) statuses.push(status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(around.mail.messages).toHaveLength(300)
    const lookUp = async () => {
      const answer = await metricsOf({ id: 'dep_1' })
      expect(answer).toMatchObject({ status: 502, body: { code: 'platform_unavailable', retryable: true } })
      return host.log.at(-1)?.detail
    }
    // Now and then, one call finds out whether it is back.
    await expect.poll(lookUp).toBe('The platform failed too often and is not called now.')
  })
})
