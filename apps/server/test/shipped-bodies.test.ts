/** Large events through the bundle, beside strangers who send large bodies slowly and never finish them. */
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { signedRequest } from './deployed.ts'
import { ship, surround } from './surrounded.ts'

const { variables } = await surround()
const host = ship({ environment: { ...variables, BODY_LIMIT: '10485760' } })

/** The head of a request with a forged signature. */
const head = (headers: Record<string, string | number>) =>
  [
    'POST /mailer/webhook HTTP/1.1',
    'host: x',
    'content-type: application/json',
    'webhook-id: evt_forged',
    `webhook-timestamp: ${Math.floor(Date.now() / 1000)}`,
    `webhook-signature: v1,${btoa('x'.repeat(32))}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n')

/** Announces a body with a forged signature, and sends a part of it. Resolves when the part has left. */
async function sendPart(announced: number, sent: number): Promise<void> {
  const socket = connect(Number(new URL(await host.url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  // The host may refuse it at any time.
  socket.on('error', () => {}).resume()
  const text = `${head({ 'content-length': announced })}\r\n\r\n${' '.repeat(sent)}`
  await new Promise<void>((resolve) => socket.write(text, () => resolve()))
}

async function statusOf(bytes: number): Promise<number> {
  const event = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' }, padding: 'x'.repeat(bytes) }
  const request = await signedRequest(JSON.stringify(event), { url: `${await host.url}/mailer/webhook` })
  return (await fetch(request)).status
}
const statuses = () => Promise.all([100_000, 1_000_000, 4_000_000].map(statusOf))

it('signed events of any size pass beside bodies that were announced, and never come', async () => {
  await Promise.all([10_000_000, 1_000_000, 1_000_000, 1_000_000].map((bytes) => sendPart(bytes, 70_000)))
  expect(await statuses()).toEqual([200, 200, 200])
})

it('signed events of any size pass beside unfinished bodies that fill the memory for all', async () => {
  await Promise.all(Array.from({ length: 40 }, () => sendPart(4_000_000, 3_000_000)))
  expect(await statuses()).toEqual([200, 200, 200])
})

it('a body in pieces of one byte is refused, and its connection closed', async () => {
  const socket = connect(Number(new URL(await host.url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`${head({ 'transfer-encoding': 'chunked' })}\r\n\r\n`)
  const pieces = '1\r\na\r\n'.repeat(20_000)
  for (let count = 0; count < 200 && !socket.destroyed; count += 1) socket.write(pieces)
  await closed
  expect(response).toMatch(/^HTTP\/1.1 400 /)
})
