/**
 * The page's routes. Views are whole pages, also where a script asks for a part of one: it takes what is marked
 * `data-live`, and there is one way to draw everything.
 *
 * @module
 */
import { Hono } from 'hono'
import { toSession } from '../session.ts'
import { createActions } from './actions.ts'
import type { PageContext } from './context.ts'
import { deploymentsView } from './deployments-view.ts'
import { exchangeDetail } from './exchange-view.ts'
import { faultsView } from './faults-view.ts'
import { filesView, savedFile } from './files-view.ts'
import { functionsView } from './functions-view.ts'
import { guard, MAIL_POLICY } from './guard.ts'
import { layout, type View } from './layout.ts'
import { mailboxView, mailDocument } from './mailbox-view.ts'
import { metricsView } from './metrics-view.ts'
import { peopleView } from './people-view.ts'
import { startView } from './start-view.ts'
import { staticFile } from './static-files.ts'
import type { Stream } from './stream.ts'
import { readFilter, timelineBlock, timelineIndex, timelineView } from './timeline-view.ts'

type Draw = (context: PageContext, query: Readonly<Record<string, string>>) => View

const views: Readonly<Record<string, Draw>> = {
  '/': startView,
  '/deployments': deploymentsView,
  '/functions': functionsView,
  '/timeline': timelineView,
  '/mailbox': mailboxView,
  '/people': peopleView,
  '/files': filesView,
  '/metrics': metricsView,
  '/faults': faultsView,
}

/** Puts the page together. */
export function createPageApp(context: PageContext, stream: Stream): Hono {
  const { timeline, world } = context
  const app = new Hono()
  app.use(guard)
  for (const [path, draw] of Object.entries(views)) {
    app.get(path, (request) => request.html(layout(context, path, draw(context, request.req.query()))))
  }

  app.get('/static/:name', (request) => staticFile(request.req.param('name')) ?? request.notFound())
  app.get('/events', (request) => stream.open(request.req.raw.signal))

  app.get('/timeline/index', (request) =>
    request.json(timelineIndex(context, readFilter(request.req.query()))),
  )
  app.get('/timeline/block/:block', (request) =>
    request.html(timelineBlock(context, Number(request.req.param('block')), readFilter(request.req.query()))),
  )
  app.get('/timeline/event/:number', (request) => {
    const entry = timeline.get(Number(request.req.param('number')))
    if (!entry) return request.html('<p class="hint">This event is no longer kept.</p>', 404)
    const call = request.req.query('call')
    return request.html(exchangeDetail(context, entry, call === undefined ? undefined : Number(call)))
  })
  app.get('/timeline/session.json', (request) => {
    const entries = timeline
      .list({ ...readFilter({}), walk: request.req.query('walk') !== undefined })
      .reverse()
    const clean = request.req.query('secrets') === undefined
    const session = toSession(entries, clean ? context.mask : undefined)
    return request.body(JSON.stringify(session, null, 2), 200, {
      'content-type': 'application/json',
      'content-disposition': 'attachment; filename="session.json"',
    })
  })

  app.get('/mail/:id/html', (request) => {
    const mail = world.mail.emulator?.messages.find(({ messageId }) => messageId === request.req.param('id'))
    if (!mail) return request.notFound()
    return request.body(mailDocument(mail), 200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': MAIL_POLICY,
    })
  })
  app.get('/files/:deployment/:download/:index', (request) => {
    const { deployment, download, index } = request.req.param()
    return savedFile(context, deployment, download, Number(index)) ?? request.notFound()
  })

  app.route('/actions', createActions(context, stream))
  app.notFound((request) => request.text('There is nothing here.', 404))
  return app
}
