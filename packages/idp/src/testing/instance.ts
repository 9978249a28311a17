/**
 * An instance: one environment of an application, with its keys, users and organizations.
 *
 * @module
 */
import { newId, randomText } from './random.ts'
import type { NewUser } from './user-fields.ts'
import { buildOrganization, type NewOrganization, type WireOrganization } from './wire-organization.ts'
import { buildUser, type WireUser } from './wire-user.ts'

/** The environment of an instance. */
export type EnvironmentType = 'development' | 'production'

/** The behaviour of an instance. A test may change it at any time. */
export interface InstanceSettings {
  /**
   * The provider refuses every call with the secret key, with 401.
   * @default false
   */
  secretKeyRevoked: boolean
  /**
   * A new user needs a password, unless the call has `skip_password_requirement`.
   * @default false
   */
  passwordRequired: boolean
  /**
   * The provider refuses more users than this, with 403.
   * @default undefined: no limit
   */
  maxUsers: number | undefined
  /**
   * If false, the provider refuses every call about organizations, with 403.
   * @default true
   */
  organizationsEnabled: boolean
}

const defaultSettings: InstanceSettings = {
  secretKeyRevoked: false,
  passwordRequired: false,
  maxUsers: undefined,
  organizationsEnabled: true,
}

/** Options of an instance: its first settings, and its fixed properties. */
export interface InstanceOptions extends Partial<InstanceSettings> {
  /** @default 'development' */
  environmentType?: EnvironmentType | undefined
  /** @default `clerk.example.com` in production, else a random host such as `happy-cat-12.clerk.accounts.dev` */
  frontendHost?: string | undefined
  /** @default a random key */
  secretKey?: string | undefined
}

/** A domain of an instance in the provider's format. */
export interface WireDomain {
  object: 'domain'
  id: string
  name: string
  is_satellite: boolean
  /** `https://` and the frontend host. */
  frontend_api_url: string
  accounts_portal_url: string
  proxy_url: null
  development_origin: string
}

/** One instance. */
export interface IdpInstance {
  /** `ins_…` */
  readonly id: string
  readonly environmentType: EnvironmentType
  readonly frontendHost: string
  /** `pk_test_…` or `pk_live_…` */
  readonly publishableKey: string
  /** `sk_test_…` or `sk_live_…` */
  readonly secretKey: string
  readonly settings: InstanceSettings
  /** The primary domain first. */
  readonly domains: WireDomain[]
  /** By id, in the order of their creation. */
  readonly users: Map<string, WireUser>
  /** By id, in the order of their creation. */
  readonly organizations: Map<string, WireOrganization>
  /** The ids of the members of each organization, by the id of the organization. */
  readonly members: Map<string, Set<string>>
  /** Adds a user without checks. A user without an address gets one. */
  createUser(fields?: NewUser): WireUser
  /** Adds users without checks: `user-1@example.com`, `user-2@example.com` and so on. */
  createUsers(count: number): WireUser[]
  /** Adds an organization without checks. */
  createOrganization(fields?: Partial<NewOrganization>): WireOrganization
  /** Adds organizations without checks. */
  createOrganizations(count: number): WireOrganization[]
  /** Forgets all users and organizations, and restores the first settings and domains. */
  reset(): void
}

const prefixes = { development: 'test', production: 'live' } as const

/** Makes an instance. */
export function createInstance(options: InstanceOptions, now: () => Date): IdpInstance {
  const {
    environmentType = 'development',
    frontendHost = newHost(environmentType),
    secretKey = `sk_${prefixes[environmentType]}_${randomText(42)}`,
    ...settings
  } = options
  const first = { ...defaultSettings, ...settings }
  let usersMade = 0
  let organizationsMade = 0

  const instance: IdpInstance = {
    id: newId('ins'),
    environmentType,
    frontendHost,
    publishableKey: publishableKeyOf(frontendHost, environmentType),
    secretKey,
    settings: { ...first },
    domains: [buildDomain(frontendHost)],
    users: new Map(),
    organizations: new Map(),
    members: new Map(),
    createUser(fields = {}) {
      usersMade += 1
      const user = buildUser({ email_address: [`user-${usersMade}@example.com`], ...fields }, now().getTime())
      instance.users.set(user.id, user)
      return user
    },
    createUsers: (count) => Array.from({ length: count }, () => instance.createUser()),
    createOrganization(fields = {}) {
      organizationsMade += 1
      const name = fields.name ?? `Organization ${organizationsMade}`
      const slug = fields.slug ?? `organization-${organizationsMade}`
      const organization = buildOrganization({ ...fields, name, slug }, now().getTime())
      instance.organizations.set(organization.id, organization)
      instance.members.set(organization.id, new Set(fields.created_by ? [fields.created_by] : []))
      return organization
    },
    createOrganizations: (count) => Array.from({ length: count }, () => instance.createOrganization()),
    reset() {
      instance.users.clear()
      instance.organizations.clear()
      instance.members.clear()
      instance.domains.splice(0, instance.domains.length, buildDomain(frontendHost))
      Object.assign(instance.settings, first)
      usersMade = 0
      organizationsMade = 0
    },
  }
  return instance
}

/** Makes the publishable key of a frontend host. */
export function publishableKeyOf(frontendHost: string, environmentType: EnvironmentType): string {
  return `pk_${prefixes[environmentType]}_${btoa(`${frontendHost}$`)}`
}

function buildDomain(frontendHost: string): WireDomain {
  const name = frontendHost.replace(/^clerk\./, '').replace('.clerk.', '.')
  return {
    object: 'domain',
    id: newId('dmn'),
    name,
    is_satellite: false,
    frontend_api_url: `https://${frontendHost}`,
    accounts_portal_url: `https://accounts.${name}`,
    proxy_url: null,
    development_origin: '',
  }
}

function newHost(environmentType: EnvironmentType): string {
  if (environmentType === 'production') return 'clerk.example.com'
  const animals = ['cat', 'crab', 'dove', 'fox', 'hare', 'lion', 'mole', 'newt', 'otter', 'wren']
  const [animal = 0, number = 0] = crypto.getRandomValues(new Uint32Array(2))
  return `happy-${animals[animal % animals.length]}-${number % 1_000_000}.clerk.accounts.dev`
}
