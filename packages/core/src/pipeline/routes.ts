/** The webhooks of several integrations, for a host of one's own. */
import type { IntegrationDefinition } from '../contract/integration.ts'
import { refuseFaults } from '../problem.ts'
import { findDependencyFaults, type HandlerDependencies } from './options.ts'
import type { WebhookHandler } from './webhook.ts'

/** What the package of an integration exports from its entry `./webhook`. */
export interface IntegrationPackage {
  integration: IntegrationDefinition
  createHandler: (dependencies: HandlerDependencies) => WebhookHandler
}

/** An integration that is loaded with its first event. */
export interface LazyIntegration {
  /** The name of its definition. */
  name: string
  /** Called again for the next event if it fails. */
  load: () => Promise<IntegrationPackage>
}

/** The routes of a host. */
export type Routes = ReturnType<typeof createRoutes>

/**
 * Makes the webhook of each integration.
 *
 * @param integrations what each package exports from `./webhook`, or a function that loads it
 * @param dependencies those of all handlers, or a function that makes those of one integration
 * @throws {TypeError} if two integrations have one name, or a dependency is missing
 */
export function createRoutes(
  integrations: readonly (IntegrationPackage | LazyIntegration)[],
  dependencies: HandlerDependencies | ((name: string) => HandlerDependencies | Promise<HandlerDependencies>),
) {
  if (typeof dependencies !== 'function') refuseFaults('The host', findDependencyFaults(dependencies))
  const webhooks = new Map<string, WebhookHandler>()
  const mounted = integrations.map((each) => {
    const name = 'load' in each ? each.name : each.integration.name
    const path = `/${name}/webhook`
    if (webhooks.has(path)) throw new TypeError(`Two integrations have the route ${path}.`)
    let handle: WebhookHandler | undefined
    const load = async () => ('load' in each ? each.load() : each)
    async function ready(): Promise<WebhookHandler> {
      const { createHandler } = await load()
      const given = typeof dependencies === 'function' ? await dependencies(name) : dependencies
      handle ??= createHandler(given)
      return handle
    }
    webhooks.set(path, (request) => handle?.(request) ?? ready().then((made) => made(request)))
    return { load, ready }
  })
  return {
    /** The handlers, by path: `/mailer/webhook`. */
    webhooks,
    /** The definitions, in the order of the integrations, for `toManifest` and `toOpenApi`. */
    definitions: () => Promise.all(mounted.map(async ({ load }) => (await load()).integration)),
    /** Makes every handler now, and not with its first event. */
    async load(): Promise<void> {
      await Promise.all(mounted.map(({ ready }) => ready()))
    },
  }
}
