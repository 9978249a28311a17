/** The frame around every view. */
import { html } from 'hono/html'
import { count } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { brokenNow } from './faults.ts'
import type { Html, View } from './html.ts'

const MARK = html`<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" fill="#2f52cc"/><path d="M3 8h4.5M5.3 5.5 7.8 8l-2.5 2.5" fill="none" stroke="#fff" stroke-width="1.5"/><circle cx="11.5" cy="8" r="1.75" fill="#fff"/></svg>`

/** The whole page. The banner is in sight until the scripts hide it, so it shows a failure of the scripts, too. */
export function layout(context: PageContext, path: string, { title, bar, body, tall }: View): Html {
  const { url, realRoutes } = context.world
  const leaves = realRoutes.length === 0 ? 'Nothing leaves this machine' : 'Some providers are real'
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
    <a class="brand" href="/">${MARK}Integration host</a>
    <nav aria-label="Views" id="nav" data-live>${navigation(context, path)}</nav>
    <p class="row push small"><span class="wide">${leaves}</span> <a href="${url}/docs" target="_blank" rel="noopener">Docs</a> <span id="connection" role="status">Connecting</span></p>
  </header>
  <p id="banner" role="alert">Not live: scripts failed. Reload the page.</p>
  <div id="broken" data-live>${brokenNow(context)}</div>
  <main id="main" class="${tall ? 'tall' : ''}" tabindex="-1">
    ${bar !== undefined && html`<div class="bar row"><h1>${title}</h1>${bar}</div>`}
    ${body}
  </main>
  <div id="toast" role="status" hidden></div>
</body>
</html>`
}

function navigation({ world, timeline, messages }: PageContext, current: string): Html {
  const links: [path: string, title: string, number: number][] = [
    ['/', 'Start', 0],
    ['/deployments', 'Deployments', world.platform.deployments.size],
    ['/timeline', 'Timeline', timeline.list().length],
    ['/mailbox', 'Mailbox', messages().length],
  ]
  const link = ([path, title, number]: (typeof links)[number]) =>
    html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${title}${number > 0 && html` <span class="badge">${count(number)}</span>`}</a></li>`
  return html`<ul>${links.map(link)}</ul>`
}
