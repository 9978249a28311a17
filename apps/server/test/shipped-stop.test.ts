/** The end of the shipped process: what happens to requests, connections, batches and the log. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { deliver } from '@org/core/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { secret } from './deployed.ts'
import { calling, mail } from './hosted.ts'
import { createFolder, type StartOptions, startShipped } from './shipped.ts'
import { surround } from './surrounded.ts'

const around = await surround()

function start(environment: StartOptions['environment'] = {}, folder?: string) {
  const host = startShipped({
    environment: { ...around.variables, ...environment },
    ...(folder && { folder }),
  })
  onTestFinished(() => host.kill('SIGKILL'))
  const send = async (event: object, id?: string) =>
    deliver(fetch, event, { ...(id && { id }), secret, url: `${await host.url}/mailer/webhook` })
  const stop = async (signal: NodeJS.Signals) => {
    host.kill(signal)
    await expect.poll(() => host.log.some(({ message }) => message?.startsWith(signal))).toBe(true)
  }
  return { ...host, send, stop }
}

const health = { name: 'HEALTH_CHECK' }

describe('the bundled host, told to stop,', () => {
  it('is not ready from then on, takes events for DRAIN_DELAY_MS, and ends each connection with a response', async () => {
    const host = start({ DRAIN_DELAY_MS: '60000' })
    const mail = around.holdMail()
    onTestFinished(mail.letGo)
    const underWay = host.send(health)
    await expect.poll(mail.arrived).toBe(1)
    await host.stop('SIGTERM')
    const readiness = await fetch(`${await host.url}/readyz`)
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'shutting_down' }])
    mail.letGo()
    for (const response of [await underWay, await host.send(health)]) {
      expect(response).toMatchObject({ status: 200, body: { status: 'healthy' } })
      expect(response.headers.get('connection')).toBe('close')
    }
    host.kill('SIGINT')
    expect(await host.exit).toBe(1)
    expect(host.log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('SIGINT') })
    expect(host.log.at(-1)?.message).toContain('ends at once')
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s, exits with 0', async (signal) => {
    const host = start()
    await host.url
    await host.stop(signal)
    expect(await host.exit).toBe(0)
    expect(host.log.at(-1)?.message).toBe('The host has stopped.')
  })

  it('does not wait for a store that was never reached if nothing is under way', async () => {
    const host = start({ DELIVERY_STORE: 'redis://127.0.0.1:1', REQUEST_TIMEOUT_MS: '60000' })
    expect(await host.send(calling('sendEmail', mail))).toMatchObject({ status: 503 })
    await host.stop('SIGTERM')
    expect(await host.exit).toBe(0)
  })

  it('answers every request of a sender that keeps 50 connections busy', async () => {
    const host = start({ DRAIN_DELAY_MS: '300' })
    const url = `${await host.url}/healthz`
    const outcomes: unknown[] = []
    let answered = 0
    const busy = Array.from({ length: 50 }, async () => {
      while (true) {
        const outcome = await fetch(url).then(
          async (response) => (await response.text()) && response.status,
          // Undici says why in `cause`.
          ({ cause }) => cause?.code,
        )
        if (outcome === 200) answered += 1
        else return outcomes.push(outcome)
      }
    })
    await expect.poll(() => answered).toBeGreaterThan(100)
    await host.stop('SIGTERM')
    await Promise.all(busy)
    // The system refuses a connection, or resets one that it has set up and that the host has not seen yet.
    for (const outcome of outcomes) expect(['ECONNREFUSED', 'ECONNRESET']).toContain(outcome)
    expect(await host.exit).toBe(0)
  })

  it('answers a request on a connection that was idle when the listener closed', async () => {
    const host = start({ DRAIN_DELAY_MS: '50' })
    const url = await host.url
    const { hostname, port } = new URL(url)
    const connection = connect({ host: hostname, port: Number(port) })
    let received = ''
    connection.on('data', (chunk) => {
      received += chunk
    })
    const ask = (path: string) => connection.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    ask('/healthz')
    await expect.poll(() => received).toContain('{"status":"ok"}')
    await host.stop('SIGTERM')
    const isRefused = () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      )
    await expect.poll(isRefused).toBe(true)
    ask('/readyz')
    expect(await host.exit).toBe(0)
    expect(received).toContain('{"status":"shutting_down"}')
    expect(received).toMatch(/connection: close/i)
  })

  it('ends a batch early, and another host sends the rest', async () => {
    around.reset()
    const folder = createFolder()
    const startOne = () => start({ DELIVERY_STORE: 'sqlite:deliveries.db' }, folder)
    const to = Array.from({ length: 1_500 }, (_, index) => `${index}@example.com`)
    const batch = calling('sendEmails', { to, subject: 'News', textBody: 'x' })
    const host = startOne()
    const mail = around.holdMail()
    onTestFinished(mail.letGo)
    const underWay = host.send(batch, 'evt_batch')
    await expect.poll(mail.arrived).toBe(1)
    await host.stop('SIGTERM')
    mail.letGo()
    expect(await underWay).toMatchObject({ status: 503, body: { code: 'shutting_down', retryable: true } })
    expect(await host.exit).toBe(0)
    expect(mail.arrived()).toBe(1)

    const rest = { status: 200, body: { result: { sent: 1_500, failed: 0, unknown: 0 } } }
    expect(await startOne().send(batch, 'evt_batch')).toMatchObject(rest)
    expect(around.mail.messages).toHaveLength(1_500)
  })
})

describe('the bundled host, whose log', () => {
  /** Sends more lines than the pipe of the log holds, stops the host, and resolves when its connections are closed. */
  async function fillLog(host: ReturnType<typeof start>): Promise<string[]> {
    const { hostname, port } = new URL(await host.url)
    const ids = Array.from({ length: 700 }, (_, index) => `evt_${index}_${'x'.repeat(150)}`)
    for (let at = 0; at < ids.length; at += 50)
      await Promise.all(ids.slice(at, at + 50).map((id) => host.send({ name: 'WEBHOOK_CHALLENGE' }, id)))
    const idle = connect({ host: hostname, port: Number(port) })
    await once(idle, 'connect')
    host.kill('SIGTERM')
    await once(idle.resume(), 'close')
    expect(host.log.length).toBeLessThan(ids.length / 2)
    return ids
  }

  it('is read late, ends when every line is read', async () => {
    const host = start()
    await host.url
    const resume = host.pauseLog()
    const ids = await fillLog(host)
    resume()
    expect(await host.exit).toBe(0)
    const logged = new Set(host.log.map(({ delivery }) => delivery))
    expect(ids.filter((id) => !logged.has(id))).toEqual([])
    expect(host.log.at(-1)?.message).toBe('The host has stopped.')
  })

  it('is never read, ends when the time to stop is over', async () => {
    const host = start({ REQUEST_TIMEOUT_MS: '1000' })
    await host.url
    host.pauseLog()
    await fillLog(host)
    expect(await host.exit).toBe(0)
  })

  it('has lost its reader, works on', async () => {
    const host = start()
    await host.url
    host.closeLog()
    for (const _ of [1, 2, 3]) expect(await host.send(health)).toMatchObject({ status: 200 })
    host.kill('SIGTERM')
    expect(await host.exit).toBe(0)
  })
})
