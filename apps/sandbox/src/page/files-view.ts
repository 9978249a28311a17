/**
 * Files: what was generated for a user’s own project, to look at and to save.
 *
 * @module
 */
import { html } from 'hono/html'
import type { PageContext } from './context.ts'
import { count, empty, type Html } from './html.ts'
import type { View } from './layout.ts'

/** The view. */
export function filesView(context: PageContext): View {
  const files = listFiles(context)
  return {
    title: 'Files',
    lead: 'What DOWNLOAD_STARTED generated. Secrets are hidden here, and whole in the file that you save.',
    body: html`<div id="files" data-live>${
      files.length === 0
        ? empty(
            'No file yet',
            html`An identity provider has files for a frontend: <a href="/deployments?new=idp">deploy idp</a>, and generate one there.`,
          )
        : files.map((file) => fileCard(context, file))
    }</div>`,
  }
}

interface ListedFile {
  deployment: string
  download: string
  index: number
  path: string
  contentType: string
  content: string
}

function listFiles({ world }: PageContext): ListedFile[] {
  return [...world.platform.deployments.values()]
    .flatMap(({ id, downloads }) =>
      [...downloads].flatMap(([download, files]) =>
        files.map((file, index) => ({ deployment: id, download, index, ...file })),
      ),
    )
    .reverse()
}

/** How many files there are. */
export function fileCount(context: PageContext): number {
  return listFiles(context).length
}

function fileCard(
  context: PageContext,
  { deployment, download, index, path, contentType, content }: ListedFile,
): Html {
  const lines = content.trimEnd().split('\n').length
  return html`<section class="card" aria-label="${path} of ${deployment}">
    <header class="card-title"><h2><code>${path}</code></h2> <span class="muted">${deployment}, ${contentType}, ${count(lines, 'line')}</span>
      <a class="button secondary push" href="/files/${encodeURIComponent(deployment)}/${encodeURIComponent(download)}/${index}" download="${path}">Save</a></header>
    <pre tabindex="0" aria-label="${path}">${context.maskText(content)}</pre></section>`
}

/** One file as it is, to be saved. */
export function savedFile(
  { world }: PageContext,
  deployment: string,
  download: string,
  index: number,
): Response | undefined {
  const file = world.platform.deployments.get(deployment)?.downloads.get(download)?.[index]
  if (!file) return undefined
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.path)}`,
  }
  return new Response(file.content, { headers })
}
