/**
 * Files: the generated files, to look at and to save.
 *
 * @module
 */
import { html } from 'hono/html'
import { plural } from '../world/text.ts'
import type { PageContext } from './context.ts'
import { code, empty, type View } from './html.ts'

/** The view. */
export function filesView(context: PageContext): View {
  const cards = listFiles(context).map(({ deployment, download, index, path, contentType, content }) => {
    const lines = plural(content.trimEnd().split('\n').length, 'line')
    const url = ['/files', encodeURIComponent(deployment), encodeURIComponent(download), index].join('/')
    return html`<section class="card" aria-label="${path} of ${deployment}">
      <header class="card-title"><h2><code>${path}</code></h2> <span class="muted">${deployment}, ${contentType}, ${lines}</span>
        <a class="button secondary push" href="${url}" download="${path}">Save</a></header>
      ${code(path, context.maskText(content))}</section>`
  })
  const hint = html`The identity provider has files for a frontend: <a href="/deployments?new=idp">deploy idp</a>, and generate one there.`
  return {
    title: 'Files',
    lead: 'The files that DOWNLOAD_STARTED generated. The page hides their secrets; a saved file is complete.',
    body: html`<div id="files" data-live>${cards.length === 0 ? empty('No file yet', hint) : cards}</div>`,
  }
}

function listFiles(context: PageContext) {
  return context
    .deployments()
    .flatMap(({ id, downloads }) =>
      [...downloads]
        .flatMap(([download, files]) =>
          files.map((file, index) => ({ deployment: id, download, index, ...file })),
        )
        .reverse(),
    )
}

/** The number of files. */
export function fileCount(context: PageContext): number {
  return listFiles(context).length
}

/** The response with a complete file. */
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
