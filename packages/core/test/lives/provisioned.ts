import { type Inputs, workspaceOf } from './events.ts'
import { type Answer, type CarryingEvent, Deployment, type Resource } from './model.ts'

/** idp-server: an application belongs to the deployment that created it, and to the workspace of its token. */
export class Provisioned extends Deployment {
  /** The deployments of one life. */
  static readonly living: Provisioned[] = []
  /** The token of a create that may still arrive. */
  pending: Inputs['token'] | undefined
  /** The applications that its workspace had before: another token that shows most of them is of that workspace. */
  before: Resource[] = []

  constructor() {
    super()
    Provisioned.living.push(this)
  }

  provide({ inputs, carried }: CarryingEvent): Resource | Answer {
    const { application } = this
    if (!inputs?.name) return 'invalid_inputs'
    const { name, token, plan } = inputs
    if (this.contradicts(carried)) return 'invalid_event'
    if (application) {
      if (application.plan !== plan) return 'invalid_inputs'
      if (!finds(token, application))
        return token === application.token ? 'provider_rejected' : 'credentials_rejected'
      return Object.assign(application, { name, token })
    }
    if (this.published === undefined && this.fails('read')) return 'platform_unavailable'
    // Nothing is created for a deployment that the platform has not committed yet.
    if (!this.pending && this.isUnread()) return 'platform_unavailable'
    if (this.faults.create === 'lost' && !this.pending) {
      this.pending = token
      const applications = Provisioned.living.flatMap((one) => one.application ?? [])
      this.before = applications.filter((one) => finds(token, one))
    }
    if (this.pending) return this.knows(token) ? 'provider_timeout' : 'credentials_rejected'
    this.application = { ...inputs, owner: this, alive: true }
    return this.application
  }

  remove({ inputs, carried }: CarryingEvent): Answer | undefined {
    if (this.contradicts(carried)) return 'invalid_event'
    const { application } = this
    const isNew = this.published === false && !this.deleted
    if (!application && !isNew && !carried && this.fails('read')) return 'platform_unavailable'
    const isGone = this.faults.platform === 'gone'
    const known = application ?? (isNew ? undefined : (carried ?? (isGone ? undefined : this.outputs)))
    if (!known && !this.pending) return undefined
    if (!inputs && this.fails('read')) return 'platform_unavailable'
    const { token } = inputs ?? (isGone ? undefined : this.inputs) ?? { token: 'host' }
    if (!known) return this.knows(token) ? 'provider_timeout' : 'credentials_rejected'
    if (application && token !== application.token && !finds(token, application))
      return 'credentials_rejected'
    this.discard()
    return undefined
  }

  override discard() {
    if (this.application) this.application.alive = false
    this.application = undefined
    this.effects = 0
  }

  knows(token: Inputs['token']): boolean {
    const shown = this.before.filter((one) => finds(token, one))
    return token === this.pending || shown.length > this.before.length / 2
  }

  contradicts(carried: Resource | undefined): boolean {
    if (!carried) return false
    const isKnown = carried === this.application || !this.application || this.published === false
    return carried.owner !== this || !isKnown
  }
}

function finds(own: Inputs['token'], { token, alive }: Resource): boolean {
  return alive && workspaceOf(own) === workspaceOf(token)
}
