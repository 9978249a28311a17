/** The OpenAPI document as one page that loads nothing else. */
import type { OpenApiDocument } from '@org/core/internal'
import { html, raw } from 'hono/html'
import { inline, link } from './parts.ts'
import { script } from './script.ts'
import { type Section, sectionsOf } from './sections.ts'
import { style } from './style.ts'

/** Makes the page, and its content-security-policy. */
export async function createPage(document: OpenApiDocument): Promise<{ text: string; policy: string }> {
  const [styleHash, scriptHash] = await Promise.all([style, script].map(hashOf))
  const sources = `default-src 'none'; style-src '${styleHash}'; script-src '${scriptHash}'; img-src data:`
  const policy = `${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return { text: `${await frame(document.info, sectionsOf(document))}`, policy }
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`
}

function frame({ title, version, description = '' }: OpenApiDocument['info'], sections: Section[]) {
  const contents = sections.map(({ id, title, entries = [] }) => {
    const inner = entries.map((entry) => html`<li>${link(entry.id, entry.title)}</li>`)
    return html`<li>${link(id, title)}${inner.length > 0 ? html`<ul>${inner}</ul>` : ''}</li>`
  })
  const content = sections.map(
    ({ id, title, content }) =>
      html`<section aria-labelledby="${id}"><h2 id="${id}">${link(id, title)}</h2>${content}</section>`,
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Reference</title>
<link rel="icon" href="${raw(icon)}">
<style>${raw(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header id="side">
<p class="brand">${title}</p>
<input id="find" type="search" placeholder="Find   /" aria-label="Find" hidden>
<p id="said" class="quiet" role="status"></p>
<nav aria-label="Contents"><ul>${contents}</ul></nav>
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
<p class="quiet">Version ${version} · <a href="/openapi.json">openapi.json</a> · <a href="/integrations">integrations</a></p>
${description.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}
${content}
</main>
<script>${raw(script)}</script>
</body>
</html>`
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232f52cc'/%3E%3Cpath d='M4 8h8' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"
