/**
 * The routes of the page. Every view is a whole page; `static/live.js` replaces the parts marked `data-live`, so
 * that there is only one way to draw.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { toSession } from '../world/session.ts'
import { createActions } from './actions.ts'
import type { PageContext } from './context.ts'
import { deploymentsView, savedFile } from './deployments-view.ts'
import { faultsView } from './faults-view.ts'
import { functionsView } from './functions-view.ts'
import { guard, MAIL_POLICY } from './guard.ts'
import type { Query, View } from './html.ts'
import { layout } from './layout.ts'
import { mailboxView, mailDocument } from './mailbox-view.ts'
import { peopleView } from './people-view.ts'
import { startView } from './start-view.ts'
import type { Stream } from './stream.ts'
import { readFilter, timelineView } from './timeline-view.ts'

const views: Readonly<Record<string, (context: PageContext, query: Query) => View>> = {
  '/': startView,
  '/deployments': deploymentsView,
  '/functions': functionsView,
  '/timeline': timelineView,
  '/mailbox': mailboxView,
  '/people': peopleView,
  '/faults': faultsView,
}

const folder = new URL('static/', import.meta.url)
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]))
const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Makes the routes of the page. */
export function createPageApp(context: PageContext, stream: Stream): Hono {
  const { timeline, world } = context
  const app = new Hono()
  app.use(guard)
  for (const [path, draw] of Object.entries(views)) {
    app.get(path, (request) => request.html(layout(context, path, draw(context, request.req.query()))))
  }

  app.get('/static/:name', (request) => {
    const name = request.req.param('name')
    const content = files.get(name)
    const type = types[name.split('.').at(-1) ?? '']
    return content && type ? request.body(content, 200, { 'content-type': type }) : request.notFound()
  })
  app.get('/events', () => stream.open())

  app.get('/timeline/session.json', (request) => {
    const entries = timeline.list(readFilter({})).reverse()
    const session = toSession(entries, request.req.query('secrets') === undefined ? context.mask : undefined)
    return request.body(JSON.stringify(session, null, 2), 200, {
      'content-type': 'application/json',
      'content-disposition': 'attachment; filename="session.json"',
    })
  })
  app.get('/mail/:id/html', (request) => {
    const mail = world.mail.emulator?.messages.find(({ messageId }) => messageId === request.req.param('id'))
    if (!mail) return request.notFound()
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': MAIL_POLICY }
    return request.body(mailDocument(mail), 200, headers)
  })
  app.get('/files/:deployment/:download/:index', (request) => {
    const { deployment, download, index } = request.req.param()
    return savedFile(context, deployment, download, Number(index)) ?? request.notFound()
  })

  app.route('/actions', createActions(context, stream))
  app.notFound((request) => request.text('There is no such page.', 404))
  return app
}
