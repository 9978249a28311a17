/** The frame around every view. */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { faultTargets } from './faults.ts'
import { actionButton, type Html, type View } from './html.ts'
import { peopleCount } from './people-view.ts'

/** The whole page. */
export function layout(context: PageContext, path: string, view: View): Html {
  const { title, lead, body, actions, tall, script } = view
  const { world } = context
  const scripts = ['live', 'actions', 'forms', ...(script ? [script] : [])]
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Sandbox</title>
  <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
  ${['base', 'layout', 'parts', 'lists'].map((name) => html`<link rel="stylesheet" href="/static/${name}.css">`)}
  ${scripts.map((name) => html`<script type="module" src="/static/${name}.js"></script>`)}
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header class="side">
    <a class="brand" href="/">Sandbox</a>
    <nav aria-label="Views" id="nav" data-live>${navigation(context, path)}</nav>
    <div class="side-foot">
      <p>Host <code>${new URL(world.url).host}</code></p>
      <p><a href="${world.url}/docs" target="_blank" rel="noopener">Reference of the host</a></p>
      <p>${world.isEmulated ? 'Providers emulated; nothing leaves this machine.' : 'Some providers are real.'}</p>
      <p><span id="connection" class="ok" role="status">Live</span></p>
    </div>
  </header>
  <main id="main" class="${tall ? 'tall' : ''}" tabindex="-1">
    <div class="title row">
      <div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
      <div class="row">${actions}</div>
    </div>
    <div id="broken" data-live>${broken(context)}</div>
    ${body}
  </main>
  <div id="toast" role="status" aria-live="polite"></div>
</body>
</html>`
}

function navigation(context: PageContext, current: string): Html {
  const { world, timeline } = context
  const faults = faultTargets(context).reduce((sum, target) => sum + target.faults.pending().length, 0)
  const links: [path: string, title: string, number?: number | undefined][] = [
    ['/', 'Start'],
    ['/deployments', 'Deployments', world.platform.deployments.size],
    ['/functions', 'Functions'],
    ['/timeline', 'Timeline', timeline.list().filter(({ source }) => source !== 'walk').length],
    ['/mailbox', 'Mailbox', world.mail.emulator?.messages.length],
    ['/people', 'People', peopleCount(context)],
    ['/faults', 'Faults', faults],
  ]
  const link = ([path, title, number = 0]: (typeof links)[number]) =>
    html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>
      <span>${title}</span>${number > 0 && html`<span class="badge">${number.toLocaleString('en-US')}</span>`}</a></li>`
  return html`<ul>${links.map(link)}</ul>`
}

/** On every page, so that nobody looks for a bug because of a forgotten fault. */
function broken(context: PageContext): Html | undefined {
  const places = faultTargets(context)
    .map(({ title, faults }) => ({ title, calls: faults.pending().length }))
    .filter(({ calls }) => calls > 0)
    .map(({ title, calls }) => `${title}, ${plural(calls, 'call')}`)
  if (places.length === 0) return undefined
  return html`<p class="notice warn"><span><strong>Broken on purpose:</strong> ${places.join('; ')} to come.</span>
    ${actionButton('Mend everything', 'mend', {}, { look: 'quiet' })}</p>`
}
