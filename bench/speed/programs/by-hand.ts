/** The host's work on a HEALTH_CHECK in thirty lines written by hand: Hono, zod, `createHmac` and pino. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { pino } from 'pino'
import * as z from 'zod'
import { webhookSecret } from './host-environment.ts'

const key = createSecretKey(Buffer.from(webhookSecret.slice('whsec_'.length), 'base64'))
const record = z.record(z.string(), z.unknown()).optional()
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
  deployment: z.object({ id: z.string(), inputs: record, outputs: record }).optional(),
})
const RESPONSE = { status: 'healthy', checks: [] }
const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime })

function isSigned(id: string, timestamp: string, body: string, signature: string): boolean {
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) >= 300) return false
  const expected = Buffer.from(
    createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'),
  )
  const given = Buffer.from(signature.slice('v1,'.length))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

function parse(body: string) {
  try {
    return event.safeParse(JSON.parse(body)).data
  } catch {
    return undefined
  }
}

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
app.post('/auth/webhook', async (context) => {
  const began = Date.now()
  const header = (name: string) => context.req.header(name) ?? ''
  const id = header('webhook-id')
  const body = await context.req.text()
  const isValid = isSigned(id, header('webhook-timestamp'), body, header('webhook-signature'))
  const parsed = isValid ? parse(body) : undefined
  const status = parsed ? 200 : isValid ? 400 : 401
  const facts = { route: 'auth', event: parsed?.name, delivery: id, status, durationMs: Date.now() - began }
  log.info(facts, `${parsed?.name ?? 'refused'} ${status}`)
  return context.json(status === 200 ? RESPONSE : { status }, status)
})
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
