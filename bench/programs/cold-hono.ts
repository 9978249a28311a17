/** The smallest host on Hono: what a start costs that has nothing of ours in it. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit(0))
