/** The smallest function on Hono. */
import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'

export const handler = handle(new Hono().get('/healthz', (context) => context.json({ status: 'ok' })))
