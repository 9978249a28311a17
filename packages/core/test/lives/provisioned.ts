import { type Inputs, workspaceOf } from './events.ts'
import { type Answer, type CarryingEvent, Deployment, type Resource } from './model.ts'

/** idp-server: an application belongs to the deployment that created it, and to the workspace of its token. */
export class Provisioned extends Deployment {
  /** The token of a create that may still arrive. */
  pending: Inputs['token'] | undefined

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
    if (this.faults.create === 'lost') this.pending ??= token
    if (this.pending) return this.pending === token ? 'provider_timeout' : 'credentials_rejected'
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
    if (!known) return token === this.pending ? 'provider_timeout' : 'credentials_rejected'
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

  contradicts(carried: Resource | undefined): boolean {
    if (!carried) return false
    const isKnown = carried === this.application || !this.application || this.published === false
    return carried.owner !== this || !isKnown
  }
}

function finds(own: Inputs['token'], { token, alive }: Resource): boolean {
  return alive && workspaceOf(own) === workspaceOf(token)
}
