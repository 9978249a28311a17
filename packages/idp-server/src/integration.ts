/**
 * The contract of provisioning: inputs and outputs, and the functions, metrics and downloads of every instance
 * (specification §2.3, §2.5 and §2.7).
 */
import {
  asksFor,
  choices,
  defineIntegration,
  environmentReference,
  immutable,
  secret,
  token,
} from '@org/core'
import { instanceDownloads, instanceFunctions, instanceMetrics, instanceOutputs } from '@org/idp/instance'
import * as z from 'zod'
import { templates } from './client.ts'

/** In the syntax that the engine of every form reads, with white space around it. */
const DOMAIN = String.raw`^\s*[A-Za-z0-9][A-Za-z0-9\-]*(\.[A-Za-z0-9\-]+)+\s*$`

const inputs = z
  .object({
    applicationName: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .describe('Name of the new application.')
      .meta({ title: 'Application name' }),
    platformApiKey: environmentReference(secret(token()))
      .optional()
      .describe(
        'Platform API access token. If it is blank, the platform’s own is used. Not the secret key of an instance.',
      )
      .meta({ title: 'Platform API access token' }),
    environmentType: choices({ development: 'Development', production: 'Production' })
      .default('development')
      .describe('development: test keys, without a domain. production: live keys, for your domain.')
      .meta({ title: 'Environment' })
      .apply(immutable),
    domain: z
      .string()
      .trim()
      .optional()
      .describe('Domain of the production instance, such as example.com.')
      .meta({ title: 'Domain' })
      .apply(immutable),
    template: choices(templates)
      .optional()
      .describe('Preconfigures the application.')
      .meta({ title: 'Template' })
      .apply(immutable),
  })
  .check(({ value: { environmentType, domain }, issues }) => {
    if (environmentType !== 'production' || (domain !== undefined && new RegExp(DOMAIN).test(domain))) return
    issues.push({
      code: 'custom',
      path: ['domain'],
      message:
        domain === undefined
          ? 'is required with environmentType production'
          : 'expected a domain such as example.com',
      input: domain,
    })
  })
  .meta({
    examples: [{ applicationName: 'Shop', environmentType: 'production', domain: 'example.com' }],
    ...asksFor(['environmentType', 'production'], { domain: { pattern: DOMAIN } }),
  })

/** The contract of provisioning. */
export const idpServer = defineIntegration({
  name: 'idp-server',
  title: 'Identity provider, provisioned',
  description: 'Creates a new application at an identity provider, and deletes it with its deployment.',
  events: [
    'DEPLOYMENT_CREATED',
    'DEPLOYMENT_DELETED',
    'HEALTH_CHECK',
    'METRIC_UPDATE',
    'DOWNLOAD_STARTED',
    'FUNCTION_CALL',
  ],
  inputs,
  outputs: z.object({
    applicationId: z.string().describe('Id of the provisioned application.'),
    instanceId: z.string().describe('Id of the created instance.'),
    ...instanceOutputs,
  }),
  functions: instanceFunctions,
  metrics: instanceMetrics,
  downloads: instanceDownloads,
})

/** The keys of the provisioned instance. */
export const instanceKeys = idpServer.outputs.pick({ publishableKey: true, secretKey: true })
