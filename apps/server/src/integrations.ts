/** The integrations of this host. To add one to its bundle, add an entry here and a line in package.json. */
import type { HandlerDependencies, IntegrationDefinition, WebhookHandler } from '@org/core'
import type { IntegrationPackage } from '@org/core/hosting'
import type { Config } from './config.ts'
import { PACKAGE } from './variables.ts'

/** An integration that is loaded with its first event, or once the host has started: a host should start fast. */
interface ConfiguredIntegration {
  /** The name of its definition. */
  name: string
  load: (config: Config) => Promise<IntegrationPackage>
}

/** An integration of a host: with a part of the configuration, or as its package exports it. */
export type HostedIntegration = ConfiguredIntegration | IntegrationPackage

/** The integrations of every host, in the order in which it shows them. */
export const builtin: readonly ConfiguredIntegration[] = [
  {
    name: 'mailer',
    load: async ({ mailer }) => withSettings(await import('@org/mailer/webhook'), mailer),
  },
  { name: 'idp', load: async ({ idp }) => withSettings(await import('@org/idp/webhook'), idp) },
  {
    name: 'idp-server',
    load: async ({ idpServer }) => withSettings(await import('@org/idp-server/webhook'), idpServer),
  },
  {
    name: 'auth',
    async load() {
      const { placeholder, createPlaceholderHandler } = await import('@org/idp/webhook')
      return { integration: placeholder, createHandler: createPlaceholderHandler }
    },
  },
]

/** An entry `./webhook` of a package, with the settings of the host for its provider. */
function withSettings<Settings>(
  entry: {
    integration: IntegrationDefinition
    createHandler: (dependencies: HandlerDependencies & Settings) => WebhookHandler
  },
  settings: Settings,
): IntegrationPackage {
  return {
    integration: entry.integration,
    createHandler: (dependencies) => entry.createHandler({ ...dependencies, ...settings }),
  }
}

/**
 * Imports the packages of INTEGRATIONS (contract §7), which are installed beside the host.
 *
 * @param names separated by commas or spaces; the configuration refuses those that are none
 * @returns the integrations, and why a package is none
 */
export async function importIntegrations(names = '') {
  const integrations: IntegrationPackage[] = []
  const faults: string[] = []
  for (const name of names.split(/[\s,]+/).filter((each) => PACKAGE.test(each))) {
    try {
      const { integration, createHandler } = await import(`${name}/webhook`)
      const { defineIntegration } = await import('@org/core')
      if (typeof createHandler !== 'function') throw new TypeError('it exports no createHandler')
      if (!integration) throw new TypeError('it exports no integration')
      const taken = [...builtin, ...integrations.map((each) => each.integration)]
      if (taken.some((each) => each.name === integration.name))
        throw new TypeError(`the host has an integration “${integration.name}” already`)
      integrations.push({ integration: defineIntegration(integration), createHandler })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      faults.push(
        `INTEGRATIONS: ${name} is no integration: expected a package whose entry ./webhook exports integration and createHandler; ${reason}`,
      )
    }
  }
  return { integrations, faults }
}
