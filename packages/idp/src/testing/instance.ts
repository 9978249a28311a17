/**
 * An instance: one environment of an application, with its keys, its users and its organizations.
 *
 * @module
 */
import { buildDomain, type WireDomain } from './domains.ts'
import { newId, randomText } from './random.ts'
import type { NewUser } from './user-fields.ts'
import { buildOrganization, type NewOrganization, type WireOrganization } from './wire-organization.ts'
import { buildUser, type WireUser } from './wire-user.ts'

/** What an instance is for. */
export type EnvironmentType = 'development' | 'production'

/** How an instance behaves; a test may change it while the emulator runs. */
export interface InstanceSettings {
  /**
   * Whether the secret key was revoked: every call with it is refused with 401.
   * @default false
   */
  secretKeyRevoked: boolean
  /**
   * Whether a user needs a password, unless `skip_password_requirement` is sent.
   * @default false
   */
  passwordRequired: boolean
  /**
   * Fields of users that the instance does not use, and refuses as unknown, for example `username`.
   * @default []
   */
  disabledFields: readonly string[]
  /**
   * More users are refused with 403.
   * @default undefined: as many as come
   */
  maxUsers: number | undefined
  /**
   * Where false, organizations are refused with 403.
   * @default true
   */
  organizationsEnabled: boolean
}

const defaultSettings: InstanceSettings = {
  secretKeyRevoked: false,
  passwordRequired: false,
  disabledFields: [],
  maxUsers: undefined,
  organizationsEnabled: true,
}

/** Options of an instance: the settings to begin with, and what can't change later. */
export interface InstanceOptions extends Partial<InstanceSettings> {
  /** @default 'development' */
  environmentType?: EnvironmentType | undefined
  /** @default `clerk.example.com` in production, else a new one such as `happy-cat-12.clerk.accounts.dev` */
  frontendHost?: string | undefined
  /** @default a new one */
  secretKey?: string | undefined
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
  /** `org_…` */
  readonly workspaceId: string
  readonly settings: InstanceSettings
  /** The primary domain first. */
  readonly domains: WireDomain[]
  /** By id, in the order of their creation. */
  readonly users: Map<string, WireUser>
  /** By id, in the order of their creation. */
  readonly organizations: Map<string, WireOrganization>
  /** The ids of the members, by the id of the organization. */
  readonly members: Map<string, Set<string>>
  /** Adds a user without any check. Without an address, it gets one. */
  createUser(fields?: NewUser): WireUser
  /** Adds many users without any check: `user-1@example.com`, and so on. */
  createUsers(count: number): WireUser[]
  /** Adds an organization without any check. */
  createOrganization(fields?: Partial<NewOrganization>): WireOrganization
  /** Adds many organizations without any check. */
  createOrganizations(count: number): WireOrganization[]
  /** Forgets users, organizations and domains that were added, and restores the first settings. */
  reset(): void
}

const prefixes = { development: 'test', production: 'live' } as const

/** Makes an instance. */
export function createInstance(options: InstanceOptions, now: () => Date): IdpInstance {
  const { environmentType = 'development', frontendHost = newHost(environmentType) } = options
  const prefix = prefixes[environmentType]
  const { secretKey = `sk_${prefix}_${randomText(42)}` } = options
  const first = readSettings(options)
  const primary = buildDomain(frontendHost, environmentType)
  let usersMade = 0
  let organizationsMade = 0

  const instance: IdpInstance = {
    id: newId('ins'),
    environmentType,
    frontendHost,
    publishableKey: publishableKeyOf(frontendHost, environmentType),
    secretKey,
    workspaceId: newId('org'),
    settings: { ...first },
    domains: [primary],
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
      instance.domains.splice(0, instance.domains.length, primary)
      Object.assign(instance.settings, first)
      usersMade = 0
      organizationsMade = 0
    },
  }
  return instance
}

/** The publishable key of a frontend host: whoever has the one has the other. */
export function publishableKeyOf(frontendHost: string, environmentType: EnvironmentType): string {
  return `pk_${prefixes[environmentType]}_${btoa(`${frontendHost}$`)}`
}

function readSettings({
  environmentType: _type,
  frontendHost: _host,
  secretKey: _key,
  ...settings
}: InstanceOptions): InstanceSettings {
  return { ...defaultSettings, ...settings }
}

const moods = ['happy', 'brave', 'calm', 'eager', 'fair', 'gentle', 'keen', 'lucky', 'proud', 'quick']
const animals = ['cat', 'crab', 'dove', 'fox', 'hare', 'lion', 'mole', 'newt', 'otter', 'wren']

function newHost(environmentType: EnvironmentType): string {
  if (environmentType === 'production') return 'clerk.example.com'
  const [mood = 0, animal = 0, number = 0] = crypto.getRandomValues(new Uint32Array(3))
  const name = `${moods[mood % moods.length]}-${animals[animal % animals.length]}-${number % 1_000_000}`
  return `${name}.clerk.accounts.dev`
}
