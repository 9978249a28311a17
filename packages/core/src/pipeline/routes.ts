/** The webhooks of several integrations, for a host of one's own. */
import { refuseFaults } from '../contract/definition.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { lazily } from '../lazily.ts'
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
  const isShared = typeof dependencies !== 'function'
  if (isShared) refuseFaults('The host', findDependencyFaults(dependencies))
  const mounted = integrations.map((each) => {
    const name = 'load' in each ? each.name : each.integration.name
    const load = lazily(async () => ('load' in each ? each.load() : each))
    const ready = lazily(async () => {
      const { createHandler } = await load()
      handle = createHandler(isShared ? dependencies : await dependencies(name))
    })
    let handle: WebhookHandler = async (request) => {
      await ready()
      return handle(request)
    }
    const webhook: WebhookHandler = (request) => handle(request)
    return { path: `/${name}/webhook`, load, ready, webhook }
  })
  const paths = mounted.map(({ path }) => path)
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined) throw new TypeError(`Two integrations have the route ${twice}.`)
  return {
    /** The handlers, by path: `/mailer/webhook`. */
    webhooks: new Map<string, WebhookHandler>(mounted.map(({ path, webhook }) => [path, webhook])),
    /** The definitions, in the order of the integrations, for `toManifest` and `toOpenApi`. */
    definitions: () => Promise.all(mounted.map(async ({ load }) => (await load()).integration)),
    /** Makes every handler now, and not with its first event. */
    async load(): Promise<void> {
      await Promise.all(mounted.map(({ ready }) => ready()))
    },
  }
}
