/**
 * What a host could be made of, with less in it: each takes a signed event at `POST /auth/webhook`, does its own
 * part of the work, and answers as ours does. `PORT` and the kind are told.
 *
 * @module
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { pino } from 'pino'
import { Webhook } from 'standardwebhooks'
import * as z from 'zod'
import { webhookSecret } from '../rows/host-environment.ts'

const kind = process.argv[2] ?? ''
const port = Number(process.env.PORT)
const secret = Buffer.from(webhookSecret.slice('whsec_'.length), 'base64')
const keyObject = createSecretKey(secret)

const event = z.object({
  id: z.string().optional(),
  name: z.enum([
    'WEBHOOK_CHALLENGE',
    'DEPLOYMENT_CREATED',
    'HEALTH_CHECK',
    'METRIC_UPDATE',
    'FUNCTION_CALL',
    'DOWNLOAD_STARTED',
    'DEPLOYMENT_DELETED',
  ]),
  timestamp: z.iso.datetime({ offset: true }).optional(),
  deployment: z
    .object({
      id: z.string(),
      inputs: z.record(z.string(), z.unknown()).optional(),
      outputs: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
})
const ANSWER = { status: 'healthy', checks: [] }

/** What is signed with, by how: throws, or resolves to false, where a signature does not fit. */
type Check = (id: string, timestamp: string, body: string, signature: string) => boolean | Promise<boolean>

const hmacWith =
  (key: typeof keyObject | Buffer): Check =>
  (id, timestamp, body, signature) => {
    const expected = Buffer.from(
      createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'),
    )
    const given = Buffer.from(signature.slice('v1,'.length))
    return expected.length === given.length && timingSafeEqual(expected, given)
  }

const subtleKey = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
const bySubtle: Check = async (id, timestamp, body, signature) =>
  crypto.subtle.verify(
    'HMAC',
    await subtleKey,
    Buffer.from(signature.slice('v1,'.length), 'base64'),
    new TextEncoder().encode(`${id}.${timestamp}.${body}`),
  )

const webhook = new Webhook(webhookSecret)
const byLibrary: Check = (id, timestamp, body, signature) => {
  webhook.verify(body, { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })
  return true
}

/** What of pino is used. */
interface Log {
  info(facts: object, message: string): void
}

function isFresh(timestamp: string): boolean {
  return Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
}

function startHono(check: Check | undefined, logged = false): void {
  const log = logged ? pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }) : undefined
  const app = new Hono()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.post(
    '/auth/webhook',
    check ? verifying(check, log) : async (context) => context.json(await context.req.json()),
  )
  serve({ fetch: app.fetch, port })
}

function verifying(check: Check, log: Log | undefined) {
  return async (context: Context): Promise<Response> => {
    const began = Date.now()
    const header = (name: string) => context.req.header(name) ?? ''
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
    const body = await context.req.text()
    const fits = isFresh(timestamp) && (await check(id, timestamp, body, header('webhook-signature')))
    const parsed = fits ? parse(body) : undefined
    const status = parsed ? 200 : fits ? 400 : 401
    const facts = { route: 'auth', event: parsed?.name, delivery: id, status, durationMs: Date.now() - began }
    log?.info(facts, `${parsed?.name ?? 'refused'} ${status}`)
    return status === 200 ? context.json(ANSWER) : context.json({ status }, status)
  }
}

function parse(body: string): z.infer<typeof event> | undefined {
  try {
    return event.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

function startNode(check: Check): void {
  const answered = JSON.stringify(ANSWER)
  createServer((request, response) => {
    if (request.method === 'GET') return void response.writeHead(200).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const header = (name: string) => String(request.headers[name] ?? '')
      const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
      const fits = isFresh(timestamp) && check(id, timestamp, body, header('webhook-signature'))
      if (fits) event.parse(JSON.parse(body))
      response.writeHead(fits ? 200 : 401, {
        'content-type': 'application/json',
        'content-length': answered.length,
      })
      response.end(answered)
    })
  }).listen(port)
}

const kinds: Readonly<Record<string, () => void>> = {
  echo: () => startHono(undefined),
  node: () => startNode(hmacWith(keyObject)),
  'key-object': () => startHono(hmacWith(keyObject)),
  'raw-key': () => startHono(hmacWith(secret)),
  subtle: () => startHono(bySubtle),
  standardwebhooks: () => startHono(byLibrary),
  pino: () => startHono(hmacWith(keyObject), true),
}
const start = kinds[kind]
if (!start) throw new Error(`There is no server “${kind}”.`)
start()
process.once('SIGTERM', () => process.exit(0))
