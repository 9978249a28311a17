/** The integrations of the host, and its contract as an OpenAPI document (contract §8). */
import type { Routes } from '@org/core/hosting'
import { revision, version } from '../version.ts'
import { lazily, type Route } from './route.ts'
import { staticContent } from './static-content.ts'

/**
 * `GET /integrations`, `GET /openapi.json` and `GET /docs`. Their content is made with the first request.
 *
 * @param others the routes beside these and the webhooks
 */
export function createDescribingRoutes(
  others: readonly Route[],
  { definitions }: Pick<Routes, 'definitions'>,
): Route[] {
  const manifests = lazily(async () => {
    const { toManifest } = await import('@org/core/hosting')
    return { integrations: (await definitions()).map(toManifest) }
  })
  const document = lazily(async () => {
    const [{ toOpenApi }, { descriptions }] = await Promise.all([
      import('@org/core/hosting'),
      import('./descriptions.ts'),
    ])
    const described = [...routes, ...others].map(({ path, operator }) => {
      return { path, ...descriptions[path], operator: operator !== undefined }
    })
    return toOpenApi(await definitions(), info, described)
  })
  const routes: Route[] = [
    { path: '/integrations', handle: asJson(manifests) },
    { path: '/openapi.json', handle: asJson(document) },
    {
      path: '/docs',
      handle: staticContent(async () => {
        const { createPage } = await import('./docs/page.ts')
        const { text, policy } = await createPage(await document())
        const headers = { 'content-type': 'text/html; charset=UTF-8', 'content-security-policy': policy }
        return { text, headers }
      }),
    },
  ]
  return routes
}

/** Answers with a value as JSON. */
function asJson(make: () => Promise<unknown>): Route['handle'] {
  const headers = { 'content-type': 'application/json' }
  return staticContent(async () => ({ text: JSON.stringify(await make()), headers }))
}

const info = {
  title: 'Integration host',
  version: `${version}+${revision}`,
  description: [
    'Handles a platform’s events by calling providers: one webhook for each integration, one JSON body for each event.',
    'Give each delivery an id, in `webhook-id` or as the event’s `id`, and repeat the id and the body when you send it again. An effect happens once for an id: a redelivery is answered from the record, with `idempotency-replayed: true` and without sensitive outputs. Without an id, the host does not recognise a redelivery.',
    'Every failure is `application/problem+json` and says whether it is `retryable`. If it is, send the same request again, after `Retry-After` seconds if that header is there. Otherwise a retry gets the same response.',
  ].join('\n\n'),
}
