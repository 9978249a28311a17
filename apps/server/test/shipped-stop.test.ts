/** SIGTERM in the middle of a batch. */
import { deliver } from '@org/core/testing'
import { expect, it, onTestFinished } from 'vitest'
import { secret, startSurroundings } from './deployed.ts'
import { calling } from './hosted.ts'
import { createFolder, startShipped } from './shipped.ts'

it('the bundled host ends a batch early on SIGTERM, and another host sends the rest', async () => {
  const around = await startSurroundings()
  onTestFinished(() => around.close())
  const folder = createFolder()
  const environment = { ...around.variables, DELIVERY_STORE: 'sqlite:deliveries.db' }
  const start = () => {
    const host = startShipped({ environment, folder })
    onTestFinished(() => host.kill('SIGKILL'))
    return host
  }
  const to = Array.from({ length: 4_000 }, (_, index) => `${index}@example.com`)
  const event = calling('sendEmails', { to, subject: 'News', textBody: 'x' })
  const send = async ({ url }: ReturnType<typeof start>) =>
    deliver(fetch, event, { id: 'evt_batch', secret, url: `${await url}/mailer/webhook` })

  const host = start()
  const mail = around.holdMail()
  const underWay = send(host)
  await expect.poll(mail.arrived).toBe(1)
  host.kill('SIGTERM')
  await expect.poll(() => host.log.at(-1)?.message).toContain('SIGTERM')
  mail.letGo()
  expect(await underWay).toMatchObject({ status: 503, body: { code: 'shutting_down', retryable: true } })
  expect(await host.exit).toBe(0)
  expect(mail.arrived()).toBe(1)

  const rest = { status: 200, body: { result: { sent: 4_000, failed: 0, unknown: 0 } } }
  expect(await send(start())).toMatchObject(rest)
  expect(around.mail.messages).toHaveLength(4_000)
}, 20_000)
