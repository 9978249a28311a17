import type { EventName } from './event.ts'
import type { DeploymentStatus } from './platform.ts'

interface CommonTraits {
  /** Where an integration handles it; absent if core answers. */
  handler?: 'created' | 'deleted' | 'health' | 'metrics' | 'download' | 'functions'
  /** The place of the inputs if the event has none: nowhere else (`event`), or the platform’s record. */
  inputs: 'event' | 'platform'
}

/** An event that leaves its deployment as it is. A call claims its delivery if its function has an effect. */
interface ReadingTraits extends CommonTraits {
  claims: 'nothing' | 'call'
  publishes: false
  /** Whether it needs a deployment that was not deleted. */
  life: 'any' | 'needed'
  status?: never
}

/** An event that changes its deployment: two deliveries never work on it at once. */
interface ChangingTraits extends CommonTraits {
  claims: 'deployment'
  /** The status while the handler works, after a success, and after a final failure. */
  status: { working?: DeploymentStatus; done: DeploymentStatus; failed: DeploymentStatus }
}

interface PublishingTraits extends ChangingTraits {
  /** Whether it writes outputs. */
  publishes: true
  life: 'begins' | 'needed'
}

interface EndingTraits extends ChangingTraits {
  publishes: false
  /** A success leaves a tombstone. */
  life: 'ends'
}

/** How core treats an event. Only an event that claims its deployment can publish, end it or set its status. */
export type EventTraits = ReadingTraits | PublishingTraits | EndingTraits

/** How core treats each event. A new event has its row here before it compiles. */
export const eventTraits = {
  WEBHOOK_CHALLENGE: { claims: 'nothing', publishes: false, life: 'any', inputs: 'platform' },
  DEPLOYMENT_CREATED: {
    handler: 'created',
    claims: 'deployment',
    publishes: true,
    life: 'begins',
    inputs: 'event',
    status: { working: 'deploying', done: 'running', failed: 'failed' },
  },
  HEALTH_CHECK: { handler: 'health', claims: 'nothing', publishes: false, life: 'any', inputs: 'platform' },
  METRIC_UPDATE: {
    handler: 'metrics',
    claims: 'nothing',
    publishes: false,
    life: 'needed',
    inputs: 'platform',
  },
  FUNCTION_CALL: {
    handler: 'functions',
    claims: 'call',
    publishes: false,
    life: 'needed',
    inputs: 'platform',
  },
  DOWNLOAD_STARTED: {
    handler: 'download',
    claims: 'nothing',
    publishes: false,
    life: 'needed',
    inputs: 'platform',
  },
  DEPLOYMENT_DELETED: {
    handler: 'deleted',
    claims: 'deployment',
    publishes: false,
    life: 'ends',
    inputs: 'platform',
    status: { done: 'stopped', failed: 'failed' },
  },
} as const satisfies Record<EventName, EventTraits>

type Table = typeof eventTraits
type EventsWith<Traits> = { [Name in EventName]: Table[Name] extends Traits ? Name : never }[EventName]

/** The events that an integration may handle. */
export type HandledEvent = EventsWith<{ handler: string }>

/** The events that may write outputs. */
export type PublishingEvent = EventsWith<{ publishes: true }>

/** The name of the handler of an event. */
export type HandlerName<Event extends HandledEvent> = Table[Event]['handler']
