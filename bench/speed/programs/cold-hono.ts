/** The smallest host on Hono: the cost of a start without our code. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
