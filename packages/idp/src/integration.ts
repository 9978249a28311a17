/**
 * The contract of the integration: inputs, outputs, functions, metrics and downloads (specification §2.2, §2.5
 * and §2.7).
 */
import {
  asksFor,
  choices,
  defineIntegration,
  environmentReference,
  functionArguments,
  secret,
} from '@org/core'
import * as z from 'zod'
import { MIN_SECRET_LENGTH } from './keys.ts'
import {
  changeFields,
  filterFields,
  metadataFields,
  newUserFields,
  organization,
  organizationFields,
  organizationListFields,
  pageFields,
  user,
  userId,
  userListFields,
} from './schema.ts'

const changeable = {
  ...changeFields,
  password: secret(changeFields.password),
  passwordDigest: secret(changeFields.passwordDigest),
  ...metadataFields,
}

/** Base64 of a host and `$`, which is written in one of three ways. */
const PUBLISHABLE_KEY = String.raw`^\s*pk_(?:test|live)_(?:[A-Za-z0-9+\/]{4})+(?:JA(?:==)?|[A-Za-z0-9+\/][CSiy]Q=?|[A-Za-z0-9+\/]{2}[AEIMQUYcgkosw048]k)\s*$`
const SECRET_KEY = String.raw`^\s*sk_(?:test|live)_[A-Za-z0-9_\-]{${MIN_SECRET_LENGTH},}\s*$`

/** The functions of every instance. */
export const instanceFunctions = {
  createUser: {
    description: 'Creates a user.',
    effectful: true,
    arguments: functionArguments({ ...newUserFields, ...changeable }).meta({
      examples: [
        {
          emailAddress: 'ada@example.com',
          firstName: 'Ada',
          lastName: 'Lovelace',
          skipPasswordRequirement: true,
        },
      ],
    }),
    result: user,
  },
  getUser: {
    description: 'Gets a user.',
    effectful: false,
    arguments: functionArguments({ userId }),
    result: user,
  },
  listUsers: {
    description: 'Lists users, page by page.',
    effectful: false,
    arguments: functionArguments({ ...filterFields, ...pageFields, ...userListFields }).meta({
      examples: [{ query: 'ada', limit: 20 }],
    }),
    result: z.object({
      data: z.array(user),
      totalCount: z.int(),
      nextCursor: z.string().nullable().describe('The startingAfter of the next page; null on the last.'),
    }),
  },
  updateUser: {
    description:
      'Changes a user. Metadata is merged, and null removes a key. Other fields are replaced, and null clears one.',
    effectful: true,
    arguments: functionArguments({ userId, ...changeable }).meta({
      examples: [{ userId: 'user_2xPZv8ySAMPLEcQ4sKfT1b9d', publicMetadata: { plan: 'gold' } }],
    }),
    result: user,
  },
  deleteUser: {
    description: 'Deletes a user.',
    effectful: true,
    arguments: functionArguments({ userId }),
    result: z.object({ id: z.string(), deleted: z.literal(true) }),
  },
  countUsers: {
    description: 'Counts users.',
    effectful: false,
    arguments: functionArguments(filterFields).meta({ examples: [{ emailAddress: 'ada@example.com' }] }),
    result: z.object({ count: z.int() }),
  },
  createOrganization: {
    description: 'Creates an organization.',
    effectful: true,
    arguments: functionArguments(organizationFields).meta({ examples: [{ name: 'Analytical Engines' }] }),
    result: organization,
  },
  listOrganizations: {
    description: 'Lists organizations, page by page.',
    effectful: false,
    arguments: functionArguments({ ...organizationListFields, ...pageFields }).meta({
      examples: [{ query: 'engines', includeMembersCount: true }],
    }),
    result: z.object({ data: z.array(organization), totalCount: z.int() }),
  },
} as const

/** The metrics of every instance. */
export const instanceMetrics = {
  number_of_users: { description: 'Total users.' },
  number_of_organizations: { description: 'Total organizations.' },
} as const

/** The downloads of every instance, for a Node frontend framework. */
export const instanceDownloads = ['.env.local', 'middleware.ts', 'proxy.ts'] as const

/** The outputs of every instance. */
export const instanceOutputs = {
  publishableKey: z.string().describe('Publishable key; safe to expose to a frontend.'),
  secretKey: secret(z.string()).describe('Secret key; for backend services.'),
  frontendApiUrl: z.string().describe('Frontend API URL.'),
}

/** The contract for attaching to an existing application. */
export const idp = defineIntegration({
  name: 'idp',
  title: 'Identity provider',
  description: 'Connects to an existing application of an identity provider: the platform’s, or your own.',
  events: [
    'DEPLOYMENT_CREATED',
    'DEPLOYMENT_DELETED',
    'HEALTH_CHECK',
    'METRIC_UPDATE',
    'DOWNLOAD_STARTED',
    'FUNCTION_CALL',
  ],
  inputs: z
    .object({
      serverType: choices({ shared: 'The platform’s', dedicated: 'Your own' })
        .default('shared')
        .describe('shared: the platform’s application, for development. dedicated: your own application.')
        .meta({ title: 'Application' }),
      publishableKey: environmentReference(z.string().trim())
        .optional()
        .describe('Dedicated only: the publishable key, pk_….')
        .meta({ title: 'Publishable key' }),
      secretKey: environmentReference(secret(z.string().trim()))
        .optional()
        .describe('Dedicated only: the secret key, sk_….')
        .meta({ title: 'Secret key' }),
    })
    .meta({
      ...asksFor(['serverType', 'dedicated'], {
        publishableKey: { pattern: PUBLISHABLE_KEY },
        secretKey: { pattern: SECRET_KEY },
      }),
      examples: [
        { serverType: 'shared' },
        {
          serverType: 'dedicated',
          publishableKey: '{{env.TENANT_PUBLISHABLE_KEY}}',
          secretKey: '{{env.TENANT_SECRET_KEY}}',
        },
      ],
    }),
  outputs: z.object(instanceOutputs),
  functions: instanceFunctions,
  metrics: instanceMetrics,
  downloads: instanceDownloads,
})
