/**
 * What every page has around its view.
 *
 * @module
 */
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { faultTargets } from './fault-kinds.ts'
import { fileCount } from './files-view.ts'
import { actionButton, count, type Html } from './html.ts'
import { peopleCount } from './people-view.ts'

/** A view, ready to be put into the page. */
export interface View {
  title: string
  /** One sentence below the title. */
  lead?: unknown
  /** Beside the title. */
  actions?: unknown
  body: unknown
  /** Fills the window, and scrolls in itself. */
  tall?: boolean
  scripts?: readonly string[]
}

/** The whole page. */
export function layout(context: PageContext, path: string, view: View): Html {
  const { title, lead, body, actions = '', tall = false, scripts = [] } = view
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Sandbox</title>
  <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
  ${['base', 'frame', 'layout', 'parts', 'forms', 'controls', 'data', 'rows', 'mail-and-plots'].map((name) => html`<link rel="stylesheet" href="/static/${name}.css">`)}
  ${['live', 'actions', 'forms', ...scripts].map((name) => html`<script type="module" src="/static/${name}.js"></script>`)}
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header class="side">
    <a class="brand" href="/"><span class="brand-mark" aria-hidden="true"></span>Sandbox</a>
    <nav aria-label="Views" id="nav" data-live>${navigation(context, path)}</nav>
    <div class="side-foot">
      <p>Host <a href="${context.world.url}/integrations">${new URL(context.world.url).host}</a></p>
      <p>${providers(context)}</p>
      <p><span id="connection" role="status">Live</span></p>
    </div>
  </header>
  <main id="main" class="${tall ? 'tall' : ''}" tabindex="-1">
    <div class="title">
      <div><h1>${title}</h1>${lead ? html`<p class="lead">${lead}</p>` : ''}</div>
      <div class="title-actions">${actions}</div>
    </div>
    <div id="broken" data-live>${broken(context)}</div>
    ${body}
  </main>
  <div id="toast" role="status" aria-live="polite"></div>
  <dialog id="copy-dialog" aria-labelledby="copy-title">
    <h2 id="copy-title">Copy this</h2>
    <textarea readonly rows="8" aria-labelledby="copy-title"></textarea>
    <form method="dialog"><button class="button primary">Close</button></form>
  </dialog>
</body>
</html>`
}

function navigation(context: PageContext, current: string): Html {
  const { world, timeline } = context
  const visible = timeline.list().filter(({ source }) => source !== 'walk').length
  const links: [path: string, title: string, number: number | undefined][] = [
    ['/', 'Start', undefined],
    ['/deployments', 'Deployments', world.platform.deployments.size],
    ['/functions', 'Functions', undefined],
    ['/timeline', 'Timeline', visible],
    ['/mailbox', 'Mailbox', world.mail.emulator?.messages.length],
    ['/people', 'People', peopleCount(context)],
    ['/files', 'Files', fileCount(context)],
    ['/metrics', 'Metrics', undefined],
    ['/faults', 'Faults', pendingFaults(context)],
  ]
  return html`<ul>${links.map(
    ([
      path,
      title,
      number,
    ]) => html`<li><a href="${path}" ${path === current ? html`aria-current="page"` : ''}>
      <span>${title}</span>${number ? html`<span class="badge" data-count="${path}">${number.toLocaleString('en-US')}</span>` : ''}</a></li>`,
  )}</ul>`
}

function pendingFaults(context: PageContext): number {
  return faultTargets(context).reduce((sum, { faults }) => sum + faults.pending().length, 0)
}

/** Said on every page: who forgot a fault would look for a bug. */
function broken(context: PageContext): Html {
  const waiting = faultTargets(context).filter(({ faults }) => faults.pending().length > 0)
  if (waiting.length === 0) return html``
  const places = waiting
    .map(({ title, faults }) => `${title}, ${count(faults.pending().length, 'call')}`)
    .join('; ')
  return html`<p class="notice warn"><span><strong>Broken on purpose:</strong> ${places} to come.</span>
    ${actionButton('Mend everything', 'mend', {}, { look: 'quiet' })}</p>`
}

function providers({ world }: PageContext): string {
  const real = [
    world.mail.emulator ? [] : ['mail'],
    world.idp.emulator && world.idpServer.emulator ? [] : ['identity'],
  ].flat()
  return real.length === 0
    ? 'Providers emulated; nothing leaves this machine.'
    : `Real provider: ${real.join(', ')}.`
}
