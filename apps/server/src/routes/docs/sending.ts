/**
 * How to send events, and the events that every route has.
 *
 * @module
 */
import type { OpenApiDocument } from '@org/core/internal'
import { html } from 'hono/html'
import { command, fieldTable, type Html, heading, inline, ORIGIN } from './parts.ts'
import type { Plan } from './plan.ts'
import { parameterFields } from './schema.ts'
import { entryArticle } from './webhook.ts'

/** The section that holds for all webhooks. */
export function sendingSection(document: OpenApiDocument, { general, webhooks }: Plan): Html {
  const { parameters, securitySchemes } = document.components
  const [scheme] = Object.values(securitySchemes)
  const operation = webhooks[0]?.operation
  return html`<section aria-labelledby="events">
<div class="intro">${heading(2, 'events', 'Sending events')}</div>
<article class="entry">
<div>
${heading(3, 'signature', 'Signature')}
<p>${inline(String(scheme?.description ?? ''))}</p>
${fieldTable('Headers', parameterFields(Object.values(parameters)), 'written')}
</div>
${command('Signed by hand', signedByHand(webhooks[0]?.path ?? ''))}
</article>
${operation ? general.map((entry) => entryArticle(document, entry, operation)) : ''}
</section>`
}

/** Signs an event with a shell and OpenSSL only. */
function signedByHand(path: string): string {
  return `SECRET=whsec_…
body='{"name":"HEALTH_CHECK"}'
id=evt_$(date +%s) at=$(date +%s)
key=$(echo "\${SECRET#whsec_}" | base64 -d |
  od -An -v -tx1 | tr -d ' \\n')
signature=$(printf %s "$id.$at.$body" |
  openssl dgst -sha256 -mac HMAC \\
    -macopt "hexkey:$key" -binary | base64)
curl ${ORIGIN}${path} \\
  -H 'content-type: application/json' \\
  -H "webhook-id: $id" \\
  -H "webhook-timestamp: $at" \\
  -H "webhook-signature: v1,$signature" \\
  -d "$body"`
}
