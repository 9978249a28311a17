/** The end of the shipped process: what happens to requests, connections, batches and the log. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { calling, createFolder, mail } from './hosted.ts'
import { open, signedPost, surround } from './surrounded.ts'

const around = await surround()
const health = { name: 'HEALTH_CHECK' }

function start(environment: Record<string, string> = {}, folder = createFolder()) {
  const host = around.ship({ environment, folder })
  const stop = async (signal: NodeJS.Signals) => {
    host.kill(signal)
    await expect.poll(() => host.log.some(({ message }) => message?.startsWith(signal))).toBe(true)
  }
  /** Opens a connection that has had a response. */
  const openIdle = async () => {
    const connection = await open(await host.url)
    connection.write('GET /healthz HTTP/1.1\r\nhost: host.test\r\n\r\n')
    await expect.poll(connection.received).toContain('{"status":"ok"}')
    return connection
  }
  return { ...host, stop, openIdle }
}
/** Holds every call to the mail provider, at the longest until the test ends. */
function holdMail() {
  around.reset()
  const provider = around.holdMail()
  onTestFinished(provider.letGo)
  return provider
}

describe('the bundled host, told to stop,', () => {
  it('is not ready from then on, takes events for DRAIN_DELAY_MS, and ends each connection with a response', async () => {
    const host = start({ DRAIN_DELAY_MS: '60000' })
    const provider = holdMail()
    const underWay = host.send('mailer', health)
    await expect.poll(provider.arrived).toBe(1)
    await host.stop('SIGTERM')
    const readiness = await fetch(`${await host.url}/readyz`)
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'shutting_down' }])
    provider.letGo()
    for (const response of [await underWay, await host.send('mailer', health)]) {
      expect(response).toMatchObject({ status: 200, body: { status: 'healthy' } })
      expect(response.headers.get('connection')).toBe('close')
    }
    host.kill('SIGINT')
    expect(await host.exit).toBe(1)
  })

  it('waits for no store', async () => {
    const host = start({ DELIVERY_STORE: 'redis://127.0.0.1:1', REQUEST_TIMEOUT_MS: '60000' })
    expect(await host.send('mailer', calling('sendEmail', mail))).toMatchObject({ status: 503 })
    host.kill('SIGINT')
    expect(await host.exit).toBe(0)
    expect(host.log.at(-1)).toMatchObject({ message: 'The host has stopped.', reason: 'SIGINT' })
  })

  it('answers every request of a sender that keeps 50 connections busy', async () => {
    const host = start({ DRAIN_DELAY_MS: '300' })
    const url = `${await host.url}/healthz`
    let answered = 0
    /** Asks until the host answers no more, and says why. */
    const askOn = (): Promise<unknown> =>
      fetch(url).then(
        async (response) => {
          await response.text()
          answered += 1
          return response.ok ? askOn() : response.status
        },
        ({ cause }) => cause.code,
      )
    const busy = Array.from({ length: 50 }, askOn)
    await expect.poll(() => answered).toBeGreaterThan(100)
    await host.stop('SIGHUP')
    // The system refuses a connection, or resets one that it has set up and that the host has not seen yet.
    for (const outcome of await Promise.all(busy)) expect(outcome).toBeOneOf(['ECONNREFUSED', 'ECONNRESET'])
    expect(await host.exit).toBe(0)
  })

  it('takes an event on a connection that was idle when the listener closed', async () => {
    const host = start({ DRAIN_DELAY_MS: '50' })
    const [connection, event] = [await host.openIdle(), await signedPost(health)]
    const url = `${await host.url}/healthz`
    await host.stop('SIGTERM')
    await expect.poll(() => fetch(url).then(String, () => 'refused')).toBe('refused')
    connection.write(event)
    expect(await host.exit).toBe(0)
    expect(connection.received()).toMatch(/connection: close.*{"status":"healthy"/is)
  })

  it('ends a batch early, exits with 0, and another host sends the rest', async () => {
    const folder = createFolder()
    const startOne = () => start({ DELIVERY_STORE: 'sqlite:data/deliveries.db' }, folder)
    const to = Array.from({ length: 1_500 }, (_, index) => `${index}@example.com`)
    const batch = calling('sendEmails', { to, subject: 'News', textBody: 'x' })
    const host = startOne()
    const provider = holdMail()
    const idle = await host.openIdle()
    const underWay = host.send('mailer', batch, 'evt_batch')
    await expect.poll(provider.arrived).toBe(1)
    host.kill('SIGTERM')
    await idle.left
    provider.letGo()
    expect(await underWay).toMatchObject({ status: 503, body: { code: 'shutting_down', retryable: true } })
    expect([await host.exit, host.errors(), provider.arrived()]).toEqual([0, '', 1])

    const rest = { status: 200, body: { result: { sent: 1_500, failed: 0, unknown: 0 } } }
    expect(await startOne().send('mailer', batch, 'evt_batch')).toMatchObject(rest)
    expect(around.mail.messages).toHaveLength(1_500)
  })
})

// At the same time, because they mostly wait.
describe.concurrent('the bundled host, whose log', () => {
  it.each([
    ['is read late, ends when every line is read', true],
    ['is never read, ends when the time to stop is over', false],
  ])('%s', async (_, isRead) => {
    const host = start(isRead ? {} : { REQUEST_TIMEOUT_MS: '4000' })
    const connection = await open(await host.url)
    const resume = host.pauseLog()
    // More lines than the pipe of the log holds.
    const ids = Array.from({ length: 700 }, (_, index) => `evt_${index}_${'x'.repeat(150)}`)
    for (let at = 0; at < ids.length; at += 50)
      await Promise.all(ids.slice(at, at + 50).map((id) => host.send('auth', health, id)))
    host.kill('SIGTERM')
    await connection.left
    expect(host.log.length).toBeLessThan(ids.length / 2)
    if (isRead) resume()
    expect(await host.exit).toBe(0)
    if (!isRead) return
    const logged = new Set(host.log.map(({ delivery }) => delivery))
    expect(ids.filter((id) => !logged.has(id))).toEqual([])
    expect(host.log.at(-1)).toMatchObject({ message: 'The host has stopped.', reason: 'SIGTERM' })
  })

  it('has lost its reader, works on', async () => {
    const host = start()
    await host.url
    host.closeLog()
    for (const _ of [1, 2, 3]) expect(await host.send('mailer', health)).toMatchObject({ status: 200 })
    host.kill('SIGTERM')
    expect(await host.exit).toBe(0)
  })
})
