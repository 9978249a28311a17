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
import { orReference } from '@org/core/authoring'
import * as z from 'zod'
import { MIN_SECRET_LENGTH } from './keys.ts'
import { organization, organizationOrderFields, passwordHashers, user, userOrderFields } from './schema.ts'

/** The most values of one filter, as the provider has it. */
const MAX_FILTER_VALUES = 100

const text = z.string().trim().min(1)
const textOrList = z.union([text, z.array(text).min(1)], {
  error: 'expected a text, or a list of at least one text',
})
const oneOrMany = z.union([text, z.array(text).min(1).max(MAX_FILTER_VALUES)], {
  error: `expected a text, or a list of 1 to ${MAX_FILTER_VALUES} texts`,
})
const metadata = z.record(z.string(), z.unknown())
const exampleUser = 'user_2xPZv8ySAMPLEcQ4sKfT1b9d'
const userId = text.meta({ examples: [exampleUser] }).describe('The id of the user, user_….')
const limit = z.int().min(1).max(500).optional().describe('The largest number of results. The default is 10.')
const offset = z.int().min(0).optional().describe('The number of results to skip.')

const changeable = {
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  username: text.nullish(),
  password: secret(z.string().min(1)).optional(),
  passwordDigest: secret(z.string().min(1))
    .optional()
    .describe('The digest of a password, from another system. Needs passwordHasher.'),
  passwordHasher: z.enum(passwordHashers).optional().describe('The algorithm of passwordDigest.'),
  externalId: text.nullish().describe('The user’s id in your own system.'),
  createdAt: z.iso.datetime().optional().describe('When a user of another system signed up.'),
  skipPasswordChecks: z.boolean().optional().describe('Accept a password that is known to be leaked.'),
  skipLegalChecks: z.boolean().optional().describe('Do not ask to accept the legal documents.'),
  publicMetadata: metadata.optional().describe('Readable by frontends and backends.'),
  privateMetadata: metadata.optional().describe('Readable only by backends.'),
  unsafeMetadata: metadata
    .optional()
    .describe('Readable by frontends and backends, and writable by frontends.'),
}

const filter = {
  query: z.string().optional().describe('Occurs in an address, a name, a phone number or an id.'),
  emailAddress: oneOrMany.optional().describe('Has this address, or one of these.'),
  phoneNumber: oneOrMany.optional().describe('Has this number, or one of these.'),
  userId: oneOrMany.optional().describe('Has this id, or one of these.'),
  externalId: oneOrMany.optional().describe('Has this id in your own system, or one of these.'),
  username: oneOrMany.optional().describe('Has this user name, or one of these.'),
  banned: z.boolean().optional().describe('Only banned users, or only others.'),
}

const order = <Field extends string>(fields: readonly Field[]) =>
  z
    .enum(fields.flatMap((field): (Field | `-${Field}`)[] => [field, `-${field}`]))
    .optional()
    .describe('A field, with - in front for descending. The default is -createdAt.')

/** Base64 of a host and `$`, which is written in one of three ways. */
const PUBLISHABLE_KEY = String.raw`^\s*pk_(?:test|live)_(?:[A-Za-z0-9+\/]{4})+(?:JA(?:==)?|[A-Za-z0-9+\/][CSiy]Q=?|[A-Za-z0-9+\/]{2}[AEIMQUYcgkosw048]k)\s*$`
const SECRET_KEY = String.raw`^\s*sk_(?:test|live)_[A-Za-z0-9_\-]{${MIN_SECRET_LENGTH},}\s*$`

/** The functions of every instance. */
export const instanceFunctions = {
  createUser: {
    description: 'Creates a user.',
    effectful: true,
    arguments: functionArguments({
      emailAddress: textOrList.optional().describe('One address, or several; the first is the primary one.'),
      phoneNumber: textOrList.optional().describe('One number, or several; the first is the primary one.'),
      skipPasswordRequirement: z.boolean().optional().describe('Create the user without a password.'),
      ...changeable,
    }).meta({
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
    arguments: functionArguments({
      ...filter,
      limit,
      offset,
      startingAfter: text
        .optional()
        .describe('The nextCursor of the previous page. Needs an order by createdAt, and no offset.'),
      orderBy: order(userOrderFields),
    }).meta({ examples: [{ query: 'ada', limit: 20 }] }),
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
      examples: [{ userId: exampleUser, publicMetadata: { plan: 'gold' } }],
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
    arguments: functionArguments(filter).meta({ examples: [{ emailAddress: 'ada@example.com' }] }),
    result: z.object({ count: z.int() }),
  },
  createOrganization: {
    description: 'Creates an organization.',
    effectful: true,
    arguments: functionArguments({
      name: text,
      slug: text.optional(),
      createdBy: text.optional().describe('The id of the user who becomes its first administrator.'),
      maxAllowedMemberships: z.int().min(0).optional().describe('0: no limit.'),
      publicMetadata: metadata.optional(),
      privateMetadata: metadata.optional(),
    }).meta({ examples: [{ name: 'Analytical Engines' }] }),
    result: organization,
  },
  listOrganizations: {
    description: 'Lists organizations, page by page.',
    effectful: false,
    arguments: functionArguments({
      query: z.string().optional().describe('Occurs in the name, the slug or the id.'),
      includeMembersCount: z.boolean().optional(),
      limit,
      offset,
      orderBy: order(organizationOrderFields),
    }).meta({ examples: [{ query: 'engines', includeMembersCount: true }] }),
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
        publishableKey: { pattern: orReference(PUBLISHABLE_KEY) },
        secretKey: { pattern: orReference(SECRET_KEY) },
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
