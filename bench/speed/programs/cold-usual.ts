/** A host made of the usual parts: Hono, zod, ky and pino. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import ky from 'ky'
import { pino } from 'pino'
import * as z from 'zod'

const environment = z.object({ PORT: z.coerce.number().int(), UPSTREAM: z.url() })
const { PORT, UPSTREAM } = environment.parse({ UPSTREAM: 'http://127.0.0.1:9', ...process.env })
const log = pino()
const upstream = ky.create({ baseUrl: UPSTREAM })
const event = z.object({ name: z.enum(['HEALTH_CHECK', 'FUNCTION_CALL']), id: z.string().optional() })

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
app.post('/webhook', async (context) => {
  const { name, id } = event.parse(await context.req.json())
  log.info({ name, id }, 'event')
  return context.json(await upstream.post('events', { json: { name } }).json())
})
serve({ fetch: app.fetch, port: PORT })
process.once('SIGTERM', () => process.exit(0))
