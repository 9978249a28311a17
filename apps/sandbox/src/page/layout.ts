/** The frame around every view. */
import { html } from 'hono/html'
import { count } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { brokenNow } from './faults.ts'
import type { Html, View } from './html.ts'

/** The whole page. The banner is in sight until the scripts hide it, so it shows a failure of the scripts, too. */
export function layout(context: PageContext, path: string, { title, bar, body }: View): Html {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title} · Integration host</title>
  <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
  ${['base', 'views'].map((name) => html`<link rel="stylesheet" href="/static/${name}.css">`)}
  <script type="module" src="/static/list.js"></script>
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header class="top">
    <a class="brand" href="/"><img src="/static/icon.svg" alt="">Integration host</a>
    <nav aria-label="Views" id="nav" data-live>${navigation(context, path)}</nav>
    <p class="row push small"><a href="${context.world.url}/docs" target="_blank" rel="noopener">Docs</a> <span id="connection" role="status">Connecting</span></p>
  </header>
  <p id="banner" role="alert">Not live: scripts failed. Reload the page.</p>
  <div id="broken" data-live>${brokenNow(context)}</div>
  <main id="main" class="${bar === undefined ? '' : 'tall'}" tabindex="-1">
    ${bar !== undefined && html`<div class="bar row"><h1 class="visually-hidden">${title}</h1>${bar}</div>`}
    ${body}
  </main>
  <div id="toast" class="card" role="status" hidden></div>
</body>
</html>`
}

function navigation({ world, timeline, messages }: PageContext, current: string): Html {
  const links: [path: string, title: string, number: number][] = [
    ['/', 'Start', 0],
    ['/deployments', 'Deployments', world.platform.deployments.size],
    ['/timeline', 'Timeline', timeline.list().length],
    ['/mailbox', 'Mailbox', messages.length],
  ]
  const link = ([path, title, number]: (typeof links)[number]) =>
    html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${title}${number > 0 && html` <span class="badge">${count(number)}</span>`}</a></li>`
  return html`<ul>${links.map(link)}</ul>`
}
