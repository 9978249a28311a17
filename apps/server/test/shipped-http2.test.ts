import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { constants } from 'node:http2'
import { deliver } from '@org/core/testing'
import { expect, it, onTestFinished } from 'vitest'
import { createHttp2Gateway } from '../../../bench/shared/http2-gateway.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { secret, startSurroundings } from './deployed.ts'
import { calling } from './hosted.ts'
import { createFolder, startShipped } from './shipped.ts'

it('the bundled host sends mails over HTTP/2, and those again that the provider did not process', async () => {
  const around = await startSurroundings()
  const { port } = new URL(around.variables.MAILER_API_BASE ?? '')
  const sessions = new Set<unknown>()
  let calls = 0
  const gateway = createHttp2Gateway(
    () => Number(port),
    (stream) => {
      sessions.add(stream.session)
      calls += 1
      if (calls % 4 !== 3) return false
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return true
    },
  ).listen(0, '127.0.0.1')
  await once(gateway, 'listening')
  const address = gateway.address()
  const folder = createFolder()
  writeFileSync(`${folder}/authority.pem`, cert)
  const host = startShipped({
    folder,
    environment: {
      ...around.variables,
      MAILER_API_BASE: `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
      // So short that the client withholds the end of each body.
      REQUEST_TIMEOUT_MS: '6000',
      NODE_EXTRA_CA_CERTS: `${folder}/authority.pem`,
    },
  })
  onTestFinished(async () => {
    host.kill('SIGKILL')
    await host.exit
    gateway.close()
    await around.close()
  })
  const url = `${await host.url}/mailer/webhook`
  const send = async (number: number) => {
    const mail = { to: `${number}@example.com`, subject: 'Hi', textBody: 'x' }
    return (await deliver(fetch, calling('sendEmail', mail), { secret, url })).status
  }
  const statuses = [
    await send(0),
    await send(1),
    ...(await Promise.all(Array.from({ length: 20 }, (_, at) => send(at + 2)))),
  ]
  expect(statuses).toEqual(Array(22).fill(200))
  expect(
    around.mail.messages.map(({ to }) => Number.parseInt(to[0] ?? '', 10)).sort((a, b) => a - b),
  ).toEqual([...Array(22).keys()])
  expect(calls).toBeGreaterThan(22)
  expect(sessions.size).toBe(1)
})
