/**
 * The routes of the page. Every view is a whole page; `static/live.js` replaces the parts marked `data-live`, so
 * that there is only one way to draw.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { getMimeType } from 'hono/utils/mime'
import { toSession } from '../world/session.ts'
import { createActions } from './actions.ts'
import type { PageContext } from './context.ts'
import { deploymentsView } from './deployments-view.ts'
import { guard, MAIL_POLICY } from './guard.ts'
import type { Query, View } from './html.ts'
import { layout } from './layout.ts'
import { mailDocument } from './mail-content.ts'
import { mailboxView } from './mailbox-view.ts'
import { findEvents } from './search.ts'
import { startView } from './start-view.ts'
import { timelineView } from './timeline-view.ts'

const views: Readonly<Record<string, (context: PageContext, query: Query) => View>> = {
  '/': startView,
  '/deployments': deploymentsView,
  '/timeline': timelineView,
  '/mailbox': mailboxView,
}

const folder = new URL('static/', import.meta.url)
const own = readdirSync(folder).map((name) => [name, new URL(name, folder)] as const)
const library = new URL(import.meta.resolve('idiomorph/dist/idiomorph.esm.js'))
const files = new Map(
  [...own, ['idiomorph.js', library] as const].map(([name, url]) => [name, readFileSync(url, 'utf8')]),
)
/** After a message, the changes within this time go into the next one. */
const COLLECT_MS = 50

/** Makes the routes of the page. */
export function createPageApp(context: PageContext): Hono {
  const { world, changes, messages } = context
  const app = new Hono()
  app.use(guard)
  for (const [path, draw] of Object.entries(views)) {
    app.get(path, (request) => request.html(layout(context, path, draw(context, request.req.query()))))
  }
  app.get('/static/:name', (request) => {
    const name = request.req.param('name')
    const content = files.get(name)
    const type = getMimeType(name)
    return content && type ? request.body(content, 200, { 'content-type': type }) : request.notFound()
  })
  app.get('/events', (request) =>
    streamSSE(request, async (stream) => {
      await stream.writeSSE({ data: 'hello', retry: 1_000 })
      let next = changes.next()
      while (!stream.aborted && !changes.isOver) {
        await next
        next = changes.next()
        await stream.writeSSE({ data: 'changed' })
        await stream.sleep(COLLECT_MS)
      }
    }),
  )
  app.get('/timeline/session.json', (request) => {
    const query = request.req.query()
    const session = toSession(
      findEvents(context, query).reverse(),
      query.secrets === undefined ? context.maskText : undefined,
    )
    return savedFile('session.json', JSON.stringify(session, null, 2))
  })
  const findMail = (id: string) => messages.find(({ messageId }) => messageId === id)
  app.get('/mail/:id/html', (request) => {
    const mail = findMail(request.req.param('id'))
    if (!mail) return request.notFound()
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': MAIL_POLICY }
    return request.body(mailDocument(mail), 200, headers)
  })
  app.get('/mail/:id/files/:index', (request) => {
    const file = findMail(request.req.param('id'))?.attachments[Number(request.req.param('index'))]
    return file ? savedFile(file.name, Buffer.from(file.content, 'base64')) : request.notFound()
  })
  app.get('/files/:deployment/:download/:index', (request) => {
    const { deployment, download, index } = request.req.param()
    const file = world.platform.deployments.get(deployment)?.downloads.get(download)?.[Number(index)]
    return file ? savedFile(file.path, file.content) : request.notFound()
  })
  app.route('/actions', createActions(context))
  return app
}

function savedFile(name: string, content: BodyInit): Response {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
  }
  return new Response(content, { headers })
}
