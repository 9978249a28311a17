/** The smallest host on Hono: it responds with the JSON of an event, unsigned and unchecked. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
app.post('/auth/webhook', async (context) => context.json(await context.req.json()))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
