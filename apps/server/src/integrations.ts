/** The integrations of this host. To add one to its bundle, add a line here and a line in package.json. */
import type { HandlerDependencies, IntegrationDefinition, WebhookHandler } from '@org/core'
import type { IntegrationPackage } from '@org/core/hosting'
import type { Config } from './config.ts'
import { PACKAGE, PREFIX_OF_PACKAGES } from './variables.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The entry `./webhook` of a package. */
interface HostedPackage extends IntegrationPackage {
  /** Makes settings from the host's variables for the package, without their prefix. */
  readSettings?: (variables: Variables) => object
}

/** An integration that is loaded with its first event, or once the host has started: a host should start fast. */
interface LazyIntegration {
  /** The name of its definition. */
  name: string
  load: (config: Config) => Promise<HostedPackage>
}

/** An integration of a host: loaded later, or as its package exports it. */
export type HostedIntegration = LazyIntegration | HostedPackage

/** The integrations of every host, in the order in which it shows them. */
export const builtin: readonly LazyIntegration[] = [
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
  // Further packages, a line for each.
]

/** A package with the settings that it makes of its variables: `API_BASE` from `INTEGRATION_SMS_GATEWAY_API_BASE`. */
export function withVariables(entry: HostedPackage, environment: Variables): IntegrationPackage {
  const prefix = `${PREFIX_OF_PACKAGES}${entry.integration.name.replaceAll('-', '_').toUpperCase()}_`
  const own = Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith(prefix) && value?.trim() ? [[name.slice(prefix.length), value]] : [],
  )
  return entry.readSettings ? withSettings(entry, entry.readSettings(Object.fromEntries(own))) : entry
}

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
 * @returns the integrations of the host, and why a package is none
 */
export async function importIntegrations(names = '') {
  const integrations: HostedPackage[] = []
  const faults: string[] = []
  for (const name of names.split(/[\s,]+/).filter((each) => PACKAGE.test(each))) {
    try {
      const { integration, createHandler, readSettings } = await import(`${name}/webhook`)
      const { defineIntegration } = await import('@org/core')
      if (typeof createHandler !== 'function') throw new TypeError('it exports no createHandler')
      if (!integration) throw new TypeError('it exports no integration')
      const taken = [...builtin, ...integrations.map((each) => each.integration)]
      if (taken.some((each) => each.name === integration.name))
        throw new TypeError(`the host has an integration “${integration.name}” already`)
      integrations.push({ integration: defineIntegration(integration), createHandler, readSettings })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      faults.push(
        `INTEGRATIONS: ${name} is no integration: expected a package whose entry ./webhook exports integration and createHandler; ${reason}`,
      )
    }
  }
  return { integrations: [...builtin, ...integrations], faults }
}
