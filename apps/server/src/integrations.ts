/** The integrations of this host. To add one, add an entry here and a line in package.json. */
import type { HandlerDependencies, IntegrationDefinition, WebhookHandler } from '@org/core'
import type { Config } from './config.ts'

/** An integration, and the factory of its handler. */
interface LoadedIntegration {
  definition: IntegrationDefinition
  createHandler: (dependencies: HandlerDependencies, config: Config) => WebhookHandler
}

/** An integration that is loaded with its first event, or once the host has started: a host should start fast. */
interface HostedIntegration {
  /** The name of its definition. */
  name: string
  load: () => Promise<LoadedIntegration>
}

/** Every integration, in the order in which the host shows them. */
export const integrations: readonly HostedIntegration[] = [
  {
    name: 'mailer',
    load: async () => configured(await import('@org/mailer/webhook'), ({ mailer }) => mailer),
  },
  { name: 'idp', load: async () => configured(await import('@org/idp/webhook'), ({ idp }) => idp) },
  {
    name: 'idp-server',
    load: async () => configured(await import('@org/idp-server/webhook'), ({ idpServer }) => idpServer),
  },
  {
    name: 'auth',
    async load() {
      const { placeholder, createPlaceholderHandler } = await import('@org/idp/webhook')
      return { definition: placeholder, createHandler: createPlaceholderHandler }
    },
  },
]

/** Loads the definition of every integration. */
export const loadDefinitions = (): Promise<IntegrationDefinition[]> =>
  Promise.all(integrations.map(async ({ load }) => (await load()).definition))

/** An entry `./webhook` of a package, with its part of the configuration. */
function configured<Settings>(
  entry: {
    integration: IntegrationDefinition
    createHandler: (dependencies: HandlerDependencies & Settings) => WebhookHandler
  },
  settingsOf: (config: Config) => Settings,
): LoadedIntegration {
  return {
    definition: entry.integration,
    createHandler: (common, config) => entry.createHandler({ ...common, ...settingsOf(config) }),
  }
}
