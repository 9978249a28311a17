/**
 * The life of a deployment, as §4 and §5 of the contract have it. Nothing here knows how the host does it.
 */
import type { Inputs, LifeEvent, Weather } from './life-events.ts'

/** The `status` of a response, `ok` for a response without one, or the code of a problem. */
export type Answer = string
type Status = 'deploying' | 'running' | 'unhealthy' | 'failed' | 'stopped'

/** An application, or a connection to a mail server. */
export interface Resource extends Inputs {
  owner: Deployment
  alive: boolean
}

/** An event, with the outputs that it carries. */
export interface CarryingEvent extends LifeEvent {
  carried?: Resource | undefined
}

const retryable = new Set<Answer>(['platform_unavailable', 'provider_timeout'])
const isLiving = (status: Status | undefined) => status === 'running' || status === 'unhealthy'

export abstract class Deployment {
  /** On the platform. */
  shown: Status = 'deploying'
  inputs: Inputs | undefined
  outputs: Resource | undefined
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
  /** Users that were created, or mails that were sent. */
  effects = 0
  weather: Weather = {}

  abstract provide(event: CarryingEvent): Resource | Answer
  abstract remove(event: CarryingEvent): Answer | undefined
  abstract use(event: LifeEvent): Resource | Answer
  discard() {}

  deliver(id: string, event: CarryingEvent, weather: Weather): Answer {
    this.weather = weather
    const isCall = event.name === 'FUNCTION_CALL'
    const recorded = isCall ? this.calls : this.answers
    const known = recorded.get(id)
    if (known !== undefined) return isCall ? known : this.replay(id, event, known)
    const answer = this.handle(event)
    if ((isCall || event.name.startsWith('DEPLOYMENT')) && !retryable.has(answer)) recorded.set(id, answer)
    return answer
  }

  replay(id: string, { name }: LifeEvent, known: Answer): Answer {
    this.show(this.status)
    const isOutdated = this.deleted ? name === 'DEPLOYMENT_CREATED' : this.earlier.has(id)
    return isOutdated ? 'ignored' : known
  }

  handle(event: CarryingEvent): Answer {
    if (event.name === 'HEALTH_CHECK') return this.check(event)
    if (!event.name.startsWith('DEPLOYMENT')) return this.call(event)
    // An older event never wins.
    if (event.at !== undefined && event.at < this.last) return 'ignored'
    return event.name === 'DEPLOYMENT_CREATED' ? this.create(event) : this.delete(event)
  }

  create(event: CarryingEvent): Answer {
    if (this.deleted) {
      if (event.at === undefined || event.at <= this.last) return 'ignored'
      const earlier = new Set(this.answers.keys())
      Object.assign(this, { deleted: false, published: false, status: 'deploying', earlier })
    }
    this.show('deploying')
    const made = this.provide(event)
    if (typeof made === 'string') return this.fail(made)
    if (this.fails('outputs')) return this.fail('platform_unavailable')
    if (this.weather.platform === 'gone') {
      if (!this.published) this.discard()
      return 'ignored'
    }
    Object.assign(this, { outputs: made, published: true, last: event.at ?? this.last })
    return this.tell('running')
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
    if (refusal === undefined) {
      Object.assign(this, { deleted: true, last: event.at ?? Math.max(0, this.last) })
      return this.tell('stopped')
    }
    if (!retryable.has(refusal) && !this.deleted) this.tell('failed')
    return refusal
  }

  check(event: LifeEvent): Answer {
    const used = this.use(event)
    // Nobody knows what to probe.
    if (used === 'platform_unavailable') return used
    const found = typeof used === 'string' ? 'unhealthy' : 'running'
    const mayChange = !this.isUnread() && !this.deleted && isLiving(this.shown) && isLiving(this.status)
    if (mayChange && found !== this.shown) this.tell(found)
    return found === 'running' ? 'healthy' : 'unhealthy'
  }

  call(event: LifeEvent): Answer {
    if (this.deleted || (this.shown === 'stopped' && !this.isUnread())) return 'deployment_deleted'
    const used = this.use(event)
    if (typeof used === 'string') return used
    if (event.name === 'FUNCTION_CALL') this.effects += 1
    return 'ok'
  }

  tell(status: Status): Status {
    this.status = status
    this.show(status)
    return status
  }

  show(status: Status | undefined) {
    if (status && !this.fails('status') && this.weather.platform !== 'gone') this.shown = status
  }

  fails(callback: 'read' | 'status' | 'outputs'): boolean {
    const { platform, callbacks = 'all' } = this.weather
    return platform !== undefined && platform !== 'gone' && (callbacks === 'all' || callbacks === callback)
  }

  isUnread = () => this.fails('read') || this.weather.platform === 'gone'
}
