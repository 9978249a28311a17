/** The integrations of the model: idp-server, which owns an application, and mailer. */
import type { Inputs, LifeEvent, Token } from './life-events.ts'
import { type Answer, type CarryingEvent, Deployment, type Resource } from './life-model.ts'

/** idp-server: an application belongs to the deployment that created it, and to the workspace of its token. */
export class Provisioned extends Deployment {
  application: Resource | undefined
  /** The token of a create that may still arrive. */
  pending: Token | undefined

  provide({ inputs, carried }: CarryingEvent): Resource | Answer {
    const { application } = this
    if (!inputs?.name) return 'invalid_inputs'
    if (this.contradicts(carried)) return 'invalid_event'
    if (application) {
      if (settingsOf(application) !== settingsOf(inputs)) return 'invalid_inputs'
      if (!finds(inputs.token, application)) {
        return inputs.token === application.token ? 'provider_rejected' : 'credentials_rejected'
      }
      return Object.assign(application, { name: inputs.name, token: inputs.token })
    }
    if (this.published === undefined && this.fails('read')) return 'platform_unavailable'
    if (this.weather.create === 'lost') this.pending ??= inputs.token
    if (this.pending) return this.pending === inputs.token ? 'provider_timeout' : 'credentials_rejected'
    this.application = { ...inputs, owner: this, alive: true }
    return this.application
  }

  remove({ inputs, carried }: CarryingEvent): Answer | undefined {
    if (this.contradicts(carried)) return 'invalid_event'
    const { application } = this
    const isNew = this.published === false && !this.deleted
    if (!application && !isNew && !carried && this.fails('read')) return 'platform_unavailable'
    const published = this.weather.platform === 'gone' ? undefined : this.outputs
    const known = application ?? (isNew ? undefined : (carried ?? published))
    if (!known && !this.pending) return undefined
    if (!inputs && this.fails('read')) return 'platform_unavailable'
    const ofPlatform = this.weather.platform === 'gone' ? undefined : this.inputs
    const { token } = inputs ?? ofPlatform ?? { token: 'host' }
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

  use({ name }: LifeEvent) {
    if (this.fails('read')) return 'platform_unavailable'
    if (this.weather.platform === 'gone' || !this.outputs) return 'missing_credentials'
    return this.outputs.alive || name === 'DOWNLOAD_STARTED' ? this.outputs : 'credentials_rejected'
  }

  contradicts(carried: Resource | undefined): boolean {
    if (!carried) return false
    const isKnown = carried === this.application || !this.application || this.published === false
    return carried.owner !== this || !isKnown
  }
}

export const workspaceOf = (token: Token) => (token === 'A2' ? 'A' : token)
const finds = (own: Token, { token, alive }: Resource) => alive && workspaceOf(own) === workspaceOf(token)
const settingsOf = ({ environmentType, domain, template }: Inputs) =>
  [environmentType, environmentType === 'production' && domain, template].join()

/** mailer: a connection to a mail server, which does not know the token B. The deployment owns nothing there. */
export class Connected extends Deployment {
  provide({ inputs }: LifeEvent) {
    if (!inputs?.name) return 'invalid_inputs'
    return inputs.token === 'B' ? 'credentials_rejected' : { ...inputs, owner: this, alive: true }
  }

  remove() {
    return undefined
  }

  /** Without outputs, it is used by its inputs. */
  use(event: LifeEvent) {
    if (this.fails('read')) return 'platform_unavailable'
    if (this.weather.platform === 'gone') return 'missing_credentials'
    return this.outputs ?? this.provide({ ...event, inputs: this.inputs ?? shared })
  }

  override call(event: LifeEvent) {
    return event.name === 'DOWNLOAD_STARTED' ? 'ignored' : super.call(event)
  }
}

const shared: Inputs = {
  name: 'shared',
  token: 'host',
  environmentType: 'development',
  domain: 'one',
  template: undefined,
}
