/**
 * Who may send an event (contract §3), as the OpenAPI document says it.
 *
 * @module
 */
import type { OpenApiParameter } from './document.ts'

/** The headers of Standard Webhooks. */
export const parameterComponents = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: false,
    description:
      'The delivery’s id, the same for every redelivery; the event’s own `id` where it is left out. With neither, nothing is recognised again.',
    schema: { type: 'string', maxLength: 200 },
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: false,
    description: 'When it was signed, in seconds since 1970: at most five minutes from now.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: false,
    description: 'One or more signatures, separated by spaces; see the security scheme.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, OpenApiParameter>

/** Where the headers are written. */
export const signatureParameters = Object.keys(parameterComponents).map((name) => ({
  $ref: `#/components/parameters/${name}`,
}))

/** How a request is signed. */
export const securitySchemes = {
  standardWebhooks: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description:
      'Standard Webhooks 1.0 (https://www.standardwebhooks.com): `v1,` and the base64 of the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>`, byte by byte, under the shared secret (`whsec_…`). Required where the host holds a secret, as it must in production.',
  },
}

/** Signed, or, where the host holds no secret, not. */
export const ifSigned: Record<string, string[]>[] = [{ standardWebhooks: [] }, {}]
