/** The integrations of this host. To add one, add a line here and one in package.json. */
import type { HandlerDependencies, IntegrationDefinition, WebhookHandler } from '@org/core'
import {
  createHandler as createIdpHandler,
  createPlaceholderHandler,
  integration as idp,
  placeholder,
} from '@org/idp/webhook'
import { createHandler as createIdpServerHandler, integration as idpServer } from '@org/idp-server/webhook'
import { createHandler as createMailerHandler, integration as mailer } from '@org/mailer/webhook'
import type { Config } from './config.ts'

/** An integration, and the factory of its handler. */
export interface HostedIntegration {
  definition: IntegrationDefinition
  createHandler: (dependencies: HandlerDependencies, config: Config) => WebhookHandler
}

/** Every integration, in the order in which the host shows them. */
export const integrations: readonly HostedIntegration[] = [
  { definition: placeholder, createHandler: createPlaceholderHandler },
  { definition: idp, createHandler: (common, config) => createIdpHandler({ ...common, ...config.idp }) },
  {
    definition: idpServer,
    createHandler: (common, config) => createIdpServerHandler({ ...common, ...config.idpServer }),
  },
  {
    definition: mailer,
    createHandler: (common, config) => createMailerHandler({ ...common, ...config.mailer }),
  },
]
