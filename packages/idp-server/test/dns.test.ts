/** The DNS records of production deployments. */
import type { Fault } from '@org/core/testing'
import { expect, it } from 'vitest'
import { production, running, runWorld } from './support.ts'

const { provider, requests, asked, create, send, deployment, logged, failsTo } = runWorld()
const records = [
  ['clerk', 'frontend-api.clerk.services'],
  ['accounts', 'accounts.clerk.services'],
  ['clkmail', 'mail.shop.example.com.clerk.services'],
  ['clk._domainkey', 'dkim1.shop.example.com.clerk.services'],
  ['clk2._domainkey', 'dkim2.shop.example.com.clerk.services'],
].map(([label, value]) => ({ type: 'CNAME', host: `${label}.shop.example.com`, value }))
const words = records.map(({ type, host, value }) => `${type} ${host} → ${value}`).join('; ')
const message = `The live keys work once the domain has these DNS records: ${words}.`

async function health(carried: object = { id: 'dep_1' }) {
  const { body } = await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1', ...carried } })
  const { status, checks } = Object(body)
  return { status, dns: checks.find(({ name }: { name: string }) => name === 'dns') }
}

it('a production deployment without its DNS records is running, with a message and a warning that list them', async () => {
  provider.settings.dnsFound = false
  expect(await create(production)).toMatchObject(running)
  expect(deployment().statusHistory.at(-1)).toMatchObject({ status: 'running', message })
  const warnings = deployment().logs.filter(({ level }) => level === 'warn')
  expect(warnings).toMatchObject([{ message, data: { records } }])
  expect(logged('info')).toContainEqual(expect.stringMatching(/was created/))
})

it('a production deployment is unhealthy until a check finds its records, and while the provider can’t tell', async () => {
  provider.settings.dnsFound = false
  await create(production)
  expect(await health()).toMatchObject({ status: 'unhealthy', dns: { healthy: false, message } })
  expect(deployment().status).toBe('unhealthy')
  provider.faults.add({ status: 500, path: /domains$/, times: 9 })
  const unknown = expect.stringContaining('did not tell whether')
  expect(await health()).toMatchObject({ status: 'unhealthy', dns: { healthy: false, message: unknown } })
  provider.faults.clear()
  provider.settings.dnsFound = true
  provider.faults.add({ path: /dns_check$/, status: 409 })
  expect(await health()).toMatchObject({ status: 'unhealthy', dns: { message } })
  expect(await health()).toMatchObject({ status: 'healthy', dns: { healthy: true } })
  expect(deployment().status).toBe('running')
  requests.length = 0
  expect(await health()).toMatchObject({ status: 'healthy' })
  expect(asked()).not.toContainEqual(expect.stringContaining('dns_check'))
  expect(await create(production)).toMatchObject(running)
  expect(logged('warn')).toHaveLength(1)
})

it.each<[string, Fault]>([
  ['refuses to tell the records', { status: 403 }],
  ['does not answer', { hang: true }],
])('a production deployment is running if the provider %s, and the log says so', async (_, fault) => {
  provider.faults.add({ ...fault, path: /domains$/ })
  expect(await create(production)).toMatchObject(running)
  expect(logged('warn')).toEqual([expect.stringContaining('did not tell which DNS records')])
})

it('a health check leaves DNS out in development, if the provider refuses to tell, and if the platform is away', async () => {
  provider.settings.dnsFound = false
  await create()
  const without = { status: 'healthy', dns: undefined }
  expect(await health()).toEqual(without)
  expect(asked().filter((request) => request.includes('domains'))).toEqual([])
  await create(production, { id: 'dep_2' })
  provider.faults.add({ status: 403, path: /status$/ })
  const { id, outputs, inputs } = deployment('dep_2')
  expect(await health({ id })).toEqual(without)
  failsTo('GET')
  expect(await health({ id, outputs })).toEqual(without)
  expect(await health({ id, outputs, inputs })).toMatchObject({ dns: { message } })
})
