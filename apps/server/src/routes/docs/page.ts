/** The OpenAPI document as one page that loads nothing else. */
import type { OpenApiDocument } from '@org/core/internal'
import { html, raw } from 'hono/html'
import { type Html, inline, ORIGIN } from './parts.ts'
import { type Entry, type Plan, planPage } from './plan.ts'
import { problemsSection, routesSection, shapesSection } from './reference.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import { sendingSection, webhookSection } from './webhook.ts'

/** The page, made once. */
export interface Page {
  /** Its content-security-policy. */
  policy: string
  /** The page, with examples for the host at an origin. */
  at(origin: string): string
}

/** Makes the page. */
export async function createPage(document: OpenApiDocument): Promise<Page> {
  const text = await renderPage(document)
  const policy = [
    "default-src 'none'",
    `style-src '${await hashOf(style)}'`,
    `script-src '${await hashOf(script)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return { policy, at: (origin) => text.replaceAll(ORIGIN, () => origin) }
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

/** The whole page, with its style and script inside. */
export async function renderPage(document: OpenApiDocument): Promise<string> {
  const { info } = document
  const plan = planPage(document)
  const body = `${await html`
${sendingSection(document, plan)}
${plan.webhooks.map((webhook) => webhookSection(document, webhook))}
${problemsSection(document)}
${routesSection(document)}`}`
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} · Reference</title>
<link rel="icon" href="${raw(icon)}">
<style>${raw(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="side">
<p class="brand"><span class="brand-mark" aria-hidden="true"></span>${info.title}</p>
${navigation(plan)}
</header>
<main id="main" tabindex="-1">
<div class="intro">
<h1>${info.title}</h1>
<p class="quiet">Version ${info.version} · <a href="/openapi.json">openapi.json</a> · <a href="/integrations">integrations</a></p>
${(info.description ?? '').split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}
</div>
${raw(body)}
${shapesSection(document, body)}
</main>
<p class="visually-hidden" id="said" role="status"></p>
<script>${raw(script)}</script>
</body>
</html>`
  return page.toString()
}

function navigation({ general, webhooks }: Plan): Html {
  const group = (id: string, title: string, entries: readonly Entry[] = []) =>
    html`<li><a href="#${id}">${title}</a>${
      entries.length > 0
        ? html`<ul>${entries.map((entry) => html`<li><a href="#${entry.id}"><code>${entry.title}</code></a></li>`)}</ul>`
        : ''
    }</li>`
  return html`<nav aria-label="Contents"><ul>
${group('events', 'Sending events', general)}
${webhooks.map(({ name, operation, own }) => group(name, operation.summary, own))}
${group('failures', 'Failures')}
${group('routes', 'Other routes')}
${group('shapes', 'Shapes')}
</ul></nav>`
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232f52cc'/%3E%3Cpath d='M4 8h8' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"
