/** The life of a deployment, as §4 and §5 of the contract have it. Nothing here knows how a host does it. */
import { type Faults, type Inputs, type LifeEvent, OUTAGE } from './events.ts'

/** The `status` of a response, `ok` for a response without one, or the code of a problem. */
export type Answer = string
type Status = 'deploying' | 'running' | 'unhealthy' | 'failed' | 'stopped'

/** An application, or a connection to a mail server. */
interface Resource extends Inputs {
  owner: Deployment
  alive: boolean
  /** The provider's. */
  id?: string | undefined
}

/** An event, with the outputs that it carries. */
export interface CarryingEvent extends LifeEvent {
  carried?: Resource | undefined
}

/** How an event is delivered. */
interface Circumstances {
  faults: Faults
  /** In minutes since the life began. */
  now: number
  /** The steps of a host that halted; by default, a host takes all. */
  taken?: string[]
}

const retryable = new Set<Answer>(['platform_unavailable', 'provider_timeout'])
const isLiving = (status: Status | undefined) => status === 'running' || status === 'unhealthy'

/** A deployment that connects to a provider, which does not know the token B, and owns nothing there. */
export class Deployment {
  /** On the platform. */
  shown: Status = 'deploying'
  inputs: Inputs | undefined
  outputs: Resource | undefined
  /** At the provider. */
  application: Resource | undefined
  /** Users that were created, or mails that were sent. */
  effects = 0
  /** Told last. */
  status: Status | undefined
  /** False for a new deployment under the id of a deleted one: the outputs on the platform are not its own. */
  published: boolean | undefined
  deleted = false
  /** When the last event happened that was done. */
  last = Number.NEGATIVE_INFINITY
  answers = new Map<string, Answer>()
  /** The deliveries that belong to a deployment of this id that was deleted. */
  earlier = new Set<string>()
  /** The answers to calls of functions. */
  calls = new Map<string, Answer>()
  /** The claim of a halted host: `deployment`, or the id of a call. */
  held: string | undefined
  faults: Faults = {}
  now = 0
  /** Whether the host takes a step. A host that halted did not take all. */
  takes: (step: string) => boolean = () => true
  /** Is recorded with the answer. */
  next: Partial<Deployment> = {}

  provide({ inputs }: CarryingEvent): Resource | Answer {
    if (!inputs?.name) return 'invalid_inputs'
    if (inputs.token === 'B') return 'credentials_rejected'
    return { ...inputs, owner: this, alive: true, id: `${inputs.name} ${inputs.token}` }
  }

  remove(_: CarryingEvent): Answer | undefined {
    return undefined
  }

  discard() {}

  /** Without outputs, it is used by its inputs. */
  find(): Resource | Answer {
    const inputs: Inputs = this.inputs ?? { name: 'shared', token: 'A' }
    return this.outputs ?? this.provide({ name: 'FUNCTION_CALL', inputs })
  }

  use(): Resource | Answer {
    if (this.fails('read')) return 'platform_unavailable'
    return this.faults.platform === 'gone' ? 'missing_credentials' : this.find()
  }

  deliver(id: string, event: CarryingEvent, { faults, now, taken }: Circumstances): Answer {
    const isCall = event.name === 'FUNCTION_CALL'
    const hasSent = isCall && (taken?.includes('intent') || taken?.includes('act'))
    const takes = (step: string) => taken === undefined || removeFirst(taken, step)
    Object.assign(this, { faults, now, takes, next: {} })
    const claim = isCall ? id : event.name.startsWith('DEPLOYMENT') ? 'deployment' : undefined
    const recorded = isCall ? this.calls : this.answers
    const known = recorded.get(id)
    if (claim && this.isStoreAway()) return 'overloaded'
    if (claim && claim === this.held && (isCall || known === undefined)) return 'delivery_in_progress'
    if (known !== undefined) return isCall ? known : this.replay(id, event, known)
    const answer = this.handle(event)
    if (!claim || retryable.has(answer)) return answer
    if (this.record()) recorded.set(id, answer)
    // Nobody knows what a halted host has sent.
    else if (hasSent) recorded.set(id, 'outcome_unknown')
    return answer
  }

  record(): boolean {
    const isRecorded = this.takes('complete')
    if (isRecorded) Object.assign(this, this.next)
    return isRecorded
  }

  replay(id: string, { name }: LifeEvent, known: Answer): Answer {
    // The holder of the claim tells its own.
    if (this.held !== 'deployment') this.show(this.status)
    const isOutdated = this.deleted ? name === 'DEPLOYMENT_CREATED' : this.earlier.has(id)
    return isOutdated ? 'ignored' : known
  }

  handle(event: CarryingEvent): Answer {
    if (event.name === 'HEALTH_CHECK') return this.check()
    if (!event.name.startsWith('DEPLOYMENT')) return this.call(event)
    // An older event never wins.
    if (event.at !== undefined && event.at < this.last) return 'ignored'
    return event.name === 'DEPLOYMENT_CREATED' ? this.create(event) : this.delete(event)
  }

  create(event: CarryingEvent): Answer {
    if (this.deleted) {
      if (event.at === undefined || event.at <= this.last) return 'ignored'
      const earlier = new Set(this.answers.keys())
      const anew = { deleted: false, published: false, status: 'deploying', earlier }
      if (this.takes('anew')) Object.assign(this, anew)
    }
    this.show('deploying')
    const made = this.provide(event)
    if (typeof made === 'string') return this.fail(made)
    if (this.fails('outputs')) return this.fail('platform_unavailable')
    if (this.faults.platform === 'gone') {
      if (!this.published) this.discard()
      return 'ignored'
    }
    if (this.takes('outputs')) this.outputs = made
    return this.tell('running', { published: true, last: event.at ?? this.last })
  }

  /** A failed redeploy leaves a deployment that works as it was. */
  fail(code: Answer): Answer {
    const works = this.isUnread() || this.outputs?.alive === true
    if (isLiving(this.status) && (works || retryable.has(code))) this.show(this.status)
    else if (!retryable.has(code)) this.tell('failed')
    return code
  }

  delete(event: CarryingEvent): Answer {
    const refusal = this.remove(event)
    if (refusal === undefined)
      return this.tell('stopped', { deleted: true, last: event.at ?? Math.max(this.now, this.last) })
    if (!retryable.has(refusal) && refusal !== 'invalid_event' && !this.deleted) this.tell('failed')
    return refusal
  }

  check(): Answer {
    const used = this.use()
    // Nobody knows what to probe.
    if (used === 'platform_unavailable') return used
    const found = typeof used === 'string' ? 'unhealthy' : 'running'
    const isLeft = this.deleted || this.isUnread() || this.isStoreAway() || this.held === 'deployment'
    const mayChange = isLiving(this.shown) && isLiving(this.status ?? this.shown) && !isLeft
    if (mayChange && found !== this.shown) {
      this.tell(found)
      this.record()
    }
    return found === 'running' ? 'healthy' : 'unhealthy'
  }

  call(event: LifeEvent): Answer {
    if (this.deleted || (this.shown === 'stopped' && !this.isUnread())) return 'deployment_deleted'
    const used = this.use()
    const isCall = event.name === 'FUNCTION_CALL'
    const leaves = typeof used !== 'string' || used === 'credentials_rejected'
    if (isCall && leaves && this.faults.act === 'unreached') return 'provider_timeout'
    if (typeof used === 'string') return used
    if (!isCall) return 'ok'
    if (this.takes('act')) this.effects += 1
    return this.faults.act ? 'outcome_unknown' : 'ok'
  }

  tell(status: Status, next: Partial<Deployment> = {}): Status {
    Object.assign(this.next, { status, ...next })
    this.show(status)
    return status
  }

  show(status: Status | undefined) {
    if (!status || this.fails('status') || this.faults.platform === 'gone') return
    if (this.takes(`status ${status}`)) this.shown = status
  }

  fails(callback: 'read' | 'status' | 'outputs'): boolean {
    const { platform, callbacks = 'all' } = this.faults
    return platform !== undefined && platform !== 'gone' && (callbacks === 'all' || callbacks === callback)
  }

  isUnread = () => this.fails('read') || this.faults.platform === 'gone'
  isStoreAway = () => this.faults.store?.times === OUTAGE
}

function removeFirst(steps: string[], step: string): boolean {
  const index = steps.indexOf(step)
  if (index !== -1) steps.splice(index, 1)
  return index !== -1
}

/** A deployment that owns an application, whose id the host chooses: so a create can be repeated. */
export class OwningDeployment extends Deployment {
  override provide({ inputs, carried }: CarryingEvent): Resource | Answer {
    if (!inputs?.name) return 'invalid_inputs'
    if (carried && carried.owner !== this) return 'invalid_event'
    if (!this.application && this.takes('id')) this.application = { ...inputs, owner: this, alive: false }
    if (this.application && this.faults.create !== 'lost' && this.takes('create')) {
      if (!this.application.alive) this.effects = 0
      Object.assign(this.application, inputs, { alive: true })
    }
    return this.faults.create ? 'provider_timeout' : (this.application ?? 'provider_timeout')
  }

  override remove({ carried }: CarryingEvent) {
    if (carried && carried.owner !== this) return 'invalid_event'
    if (this.application && this.faults.create !== 'lost' && this.takes('remove')) {
      this.application.alive = false
      this.effects = 0
    }
    if (this.application && this.faults.create) return 'provider_timeout'
    this.next = { application: undefined }
    return undefined
  }

  override find() {
    if (!this.outputs) return 'missing_credentials'
    return this.outputs.alive ? this.outputs : 'credentials_rejected'
  }

  override discard() {
    this.remove({ name: 'DEPLOYMENT_DELETED' })
    if (this.takes('no id')) this.application = undefined
  }
}
