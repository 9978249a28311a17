/**
 * Servers that do a part of the host's work: each takes a signed event at `POST /auth/webhook`, and responds as the
 * host does. `PORT` comes from the environment, the kind is a parameter.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { pino } from 'pino'
import { Webhook } from 'standardwebhooks'
import * as z from 'zod'
import { webhookSecret } from './host-environment.ts'

const kind = process.argv[2] ?? ''
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
const RESPONSE = { status: 'healthy', checks: [] }

/** Throws, or resolves with `false`, if a signature is invalid. */
type Verify = (id: string, timestamp: string, body: string, signature: string) => boolean | Promise<boolean>

const byKeyObject: Verify = (id, timestamp, body, signature) => {
  const hmac = createHmac('sha256', keyObject).update(`${id}.${timestamp}.${body}`)
  const expected = Buffer.from(hmac.digest('base64'))
  const given = Buffer.from(signature.slice('v1,'.length))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

const subtleKey = crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
const bySubtle: Verify = async (id, timestamp, body, signature) =>
  crypto.subtle.verify(
    'HMAC',
    await subtleKey,
    Buffer.from(signature.slice('v1,'.length), 'base64'),
    new TextEncoder().encode(`${id}.${timestamp}.${body}`),
  )

const webhook = new Webhook(webhookSecret)
const byLibrary: Verify = (id, timestamp, body, signature) => {
  webhook.verify(body, { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature })
  return true
}

/** The verification of each kind; the echo has none. */
const kinds: Readonly<Record<string, Verify | undefined>> = {
  echo: undefined,
  'key-object': byKeyObject,
  subtle: bySubtle,
  standardwebhooks: byLibrary,
  pino: byKeyObject,
}
if (!(kind in kinds)) throw new Error(`“${kind}” is not a kind of server.`)
const verify = kinds[kind]
const log = kind === 'pino' ? pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }) : undefined

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
app.post('/auth/webhook', async (context) => {
  if (!verify) return context.json(await context.req.json())
  const began = Date.now()
  const header = (name: string) => context.req.header(name) ?? ''
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  const body = await context.req.text()
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
  const isValid = isFresh && (await verify(id, timestamp, body, header('webhook-signature')))
  const parsed = isValid ? parse(body) : undefined
  const status = parsed ? 200 : isValid ? 400 : 401
  const facts = { route: 'auth', event: parsed?.name, delivery: id, status, durationMs: Date.now() - began }
  log?.info(facts, `${parsed?.name ?? 'refused'} ${status}`)
  return context.json(status === 200 ? RESPONSE : { status }, status)
})

function parse(body: string) {
  try {
    return event.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
