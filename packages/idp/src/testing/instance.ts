/** An instance: one environment of an application, with its keys, users and organizations. */
import type { EmulatedRequest } from '@org/core/emulators'
import type { Environment } from '../keys.ts'
import {
  buildOrganization,
  buildUser,
  type NewOrganization,
  type NewUser,
  newId,
  randomText,
  type WireOrganization,
  type WireUser,
} from './records.ts'

/** Options of an instance. */
export interface InstanceOptions {
  /** @default 'development' */
  environmentType?: Environment | undefined
  /** @default `clerk.example.com` in production, else a random host such as `happy-cat-12.clerk.accounts.dev` */
  frontendHost?: string | undefined
  /** @default a random key */
  secretKey?: string | undefined
}

/** One instance. */
export type IdpInstance = ReturnType<typeof createInstance>

/** A request to an endpoint of an instance. */
export interface EndpointCall {
  instance: IdpInstance
  request: EmulatedRequest
  query: URLSearchParams
  /** The id in the path, or an empty text. */
  id: string
  /** Unix milliseconds. */
  at: number
}

const prefixes = { development: 'test', production: 'live' } as const

/** Makes an instance. */
export function createInstance(options: InstanceOptions, now: () => Date) {
  const {
    environmentType = 'development',
    frontendHost = newHost(environmentType),
    secretKey = `sk_${prefixes[environmentType]}_${randomText(42)}`,
  } = options
  const domains = [buildDomain(frontendHost)]
  const users = new Map<string, WireUser>()
  const organizations = new Map<string, WireOrganization>()

  function createUser({ id, ...fields }: NewUser & { id?: string } = {}): WireUser {
    const email_address = [`user-${users.size + 1}@example.com`]
    const made = buildUser({ email_address, ...fields }, now().getTime())
    const user = { ...made, id: id ?? made.id }
    users.set(user.id, user)
    return user
  }

  function createOrganization(fields: Partial<NewOrganization> = {}): WireOrganization {
    const number = organizations.size + 1
    const { name = `Organization ${number}`, slug = `organization-${number}` } = fields
    const organization = buildOrganization({ ...fields, name, slug }, now().getTime())
    organizations.set(organization.id, organization)
    return organization
  }

  return {
    /** `ins_…` */
    id: newId('ins'),
    environmentType,
    frontendHost,
    /** `pk_test_…` or `pk_live_…` */
    publishableKey: publishableKeyOf(frontendHost, environmentType),
    /** `sk_test_…` or `sk_live_…` */
    secretKey,
    /** The primary domain first. */
    domains,
    /** By id, in the order of their creation. */
    users,
    /** By id, in the order of their creation. */
    organizations,
    /** Adds a user without checks. A user without an address gets one. */
    createUser,
    /** Adds users without checks: `user-1@example.com`, `user-2@example.com` and so on. */
    createUsers: (count: number) => Array.from({ length: count }, () => createUser()),
    /** Adds an organization without checks. */
    createOrganization,
    /** Forgets all users and organizations, and restores the first domain. */
    reset(): void {
      users.clear()
      organizations.clear()
      domains.splice(0, domains.length, buildDomain(frontendHost))
    },
  }
}

/** Makes the publishable key of a frontend host. */
export function publishableKeyOf(frontendHost: string, environmentType: Environment): string {
  return `pk_${prefixes[environmentType]}_${btoa(`${frontendHost}$`)}`
}

function buildDomain(frontendHost: string) {
  const name = frontendHost.replace(/^clerk\./, '').replace('.clerk.', '.')
  return { object: 'domain', id: newId('dmn'), name, frontend_api_url: `https://${frontendHost}` }
}

function newHost(environmentType: Environment): string {
  if (environmentType === 'production') return 'clerk.example.com'
  return `happy-cat-${randomText(10).toLowerCase()}.clerk.accounts.dev`
}
