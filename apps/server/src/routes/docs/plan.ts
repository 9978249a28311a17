/** The order of the page. Entries that several routes share are shown once. */
import type { DescribedEvent, OpenApiDocument, OpenApiOperation } from '@org/core/internal'

/** One event or function on the page. */
export interface Entry {
  /** Its anchor on the page. */
  id: string
  title: string
  event: DescribedEvent
  /** The route of its example. */
  path: string
  example: unknown
}

export interface WebhookPlan {
  /** The integration’s name. */
  name: string
  path: string
  operation: OpenApiOperation
  own: Entry[]
  /** Entries that are shown at another route that has them, too. */
  elsewhere: Entry[]
  /** Events that are answered `ignored`. */
  ignored: string[]
}

/** The order of the page. */
export interface Plan {
  /** Events that are the same on every route that handles them. */
  general: Entry[]
  /** The webhooks, the one with the most entries first. */
  webhooks: WebhookPlan[]
}

export function planPage({ paths }: OpenApiDocument): Plan {
  const general = new Map<string, Entry>()
  const functions = new Map<string, Entry>()

  function place(event: DescribedEvent, { name, path, operation, own, elsewhere }: WebhookPlan): void {
    const title = event.function?.name ?? event.event
    const shared = event.function ? functions : isGeneral(event) ? general : undefined
    const key = `${title} ${event.function?.arguments.$ref}`
    const known = shared?.get(key)
    if (known) return void elsewhere.push(known)
    const examples = operation.requestBody?.content['application/json']?.examples
    const id = shared === general ? title : `${name}-${title}`
    const entry = { id, title, event, path, example: examples?.[title]?.value }
    shared?.set(key, entry)
    if (shared === general) elsewhere.push(entry)
    else own.push(entry)
  }

  const webhooks = Object.entries(paths).flatMap(([path, { post }]) => {
    const events = post?.['x-events']
    if (!events) return []
    const ignored = events.filter(({ handled }) => !handled).map(({ event }) => event)
    const name = post.tags[0] ?? path
    const plan: WebhookPlan = { name, path, operation: post, own: [], elsewhere: [], ignored }
    for (const event of events) if (event.handled) place(event, plan)
    return [plan]
  })
  const sizeOf = ({ own, elsewhere }: WebhookPlan) => own.length + elsewhere.length
  return {
    general: [...general.values()],
    webhooks: webhooks.toSorted((one, other) => sizeOf(other) - sizeOf(one)),
  }
}

/** Whether an event is the same on every route: then its shapes are named after it alone. */
function isGeneral({ event, request, responses }: DescribedEvent): boolean {
  const title = event.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())
  return [request, ...responses].every(({ $ref }) => $ref.includes(`/${title}`))
}
