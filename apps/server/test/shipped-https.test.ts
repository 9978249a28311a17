/** The bundle between a platform, a provider and a store that are called over TLS, with a certificate that is valid. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hasRedis, startRedis } from '../../../bench/chaos/redis.ts'
import { createHttp2Gateway } from '../../../bench/shared/network.ts'
import { nextPort } from '../../../bench/shared/processes.ts'
import { cert, key } from '../../../tooling/runtimes/certificate.ts'
import { calling, createFolder, mail, mailDeployment } from './hosted.ts'
import { portOf } from './raw-server.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const { PLATFORM_API_URL, MAILER_API_BASE } = around.variables
const folder = createFolder()
const [NODE_EXTRA_CA_CERTS, keyFile] = [join(folder, 'ca.pem'), join(folder, 'key.pem')]
writeFileSync(NODE_EXTRA_CA_CERTS, cert)
writeFileSync(keyFile, key)

/** Serves an emulator over HTTPS, and notes the version of HTTP of each call. */
async function secure(url: string, offersHttp2: boolean) {
  const versions: string[] = []
  const gateway = createHttp2Gateway(() => Number(new URL(url).port))
  gateway.on('request', ({ httpVersion }) => versions.push(httpVersion))
  const overHttp1 = createServer({ cert, key }, (...call) => gateway.emit('request', ...call))
  const server = offersHttp2 ? gateway : overHttp1
  server.on('secureConnection', (socket) => onTestFinished(() => void socket.destroy()))
  onTestFinished(() => void server.close())
  return { host: `localhost:${await portOf(server)}`, versions }
}

it.each([
  ['HTTP/1.1 alone', false, '1.1'],
  ['HTTP/2 as well', true, '2.0'],
])(
  'the bundled host calls the platform, its own provider and servers of deployments, listed in EGRESS_ALLOW or not, which offer %s',
  async (_, offersHttp2, version) => {
    around.reset()
    const platform = await secure(PLATFORM_API_URL, offersHttp2)
    const provider = await secure(MAILER_API_BASE, offersHttp2)
    const own = await secure(MAILER_API_BASE, offersHttp2)
    const environment = {
      NODE_EXTRA_CA_CERTS,
      PLATFORM_API_URL: `https://${platform.host}`,
      MAILER_API_BASE: `https://${provider.host}`,
      EGRESS_ALLOW: own.host,
    }
    const host = around.ship({ environment })
    const sendEmail = calling('sendEmail', mail)
    const metrics = { name: 'METRIC_UPDATE', deployment: { id: 'dep_1', inputs: { serverType: 'shared' } } }
    const ofDeployment = { ...sendEmail, deployment: mailDeployment('dep_1', `https://${own.host}`) }
    for (const event of [sendEmail, metrics, ofDeployment])
      expect(await host.send('mailer', event)).toMatchObject({ status: 200 })
    // Only outside production may a server that is not listed be on this machine.
    const development = around.ship({ environment: { ...environment, NODE_ENV: 'development' } })
    const baseUrl = `https://${own.host.replace('localhost', '127.0.0.1')}`
    const unlisted = { ...sendEmail, deployment: mailDeployment('dep_2', baseUrl) }
    expect(await development.send('mailer', unlisted)).toMatchObject({ status: 200 })

    const calls = [platform, provider, own].map(({ versions }) => versions)
    // The provider is asked for the metrics, too.
    expect(calls).toEqual([[version], [version, version], [version, '1.1']])
    expect(around.mail.messages).toHaveLength(3)
    expect(around.platform.deployments.get('dep_1')).toMatchObject({ metrics: { length: 4 } })
  },
)

it.skipIf(!hasRedis)(
  'the bundled host has its store in Redis over TLS, if it trusts the authority',
  async (context) => {
    around.reset()
    const redis = await startRedis()
    onTestFinished(() => redis.close())
    const port = String(nextPort())
    const files = ['tls-cert-file', NODE_EXTRA_CA_CERTS, 'tls-key-file', keyFile]
    const setting = redis.ask('CONFIG', 'SET', 'tls-auth-clients', 'no', ...files, 'tls-port', port)
    if ((await setting.catch(String)) !== 'OK') {
      process.stderr.write('SKIPPED: Redis over TLS. This redis-server was built without it.\n')
      return context.skip()
    }
    const DELIVERY_STORE = `rediss://localhost:${port}`
    const host = around.ship({ environment: { NODE_EXTRA_CA_CERTS, DELIVERY_STORE } })
    const send = () => host.send('mailer', calling('sendEmail', mail), 'evt_1')
    await expect.poll(async () => (await send()).status).toBe(200)
    expect((await send()).headers.get('idempotency-replayed')).toBe('true')
    expect(around.mail.messages).toHaveLength(1)
    const stranger = around.ship({ environment: { DELIVERY_STORE } })
    const reason = expect.stringContaining(`(localhost:${port})`)
    const message = 'The host can’t reach Redis.'
    await expect.poll(() => stranger.log).toContainEqual(expect.objectContaining({ message, reason }))
  },
)
