import type { EventName } from './event.ts'
import type { DeploymentStatus } from './platform.ts'

/** How core treats an event. Only an event that claims its deployment can publish, end it or set its status. */
export type EventTraits = {
  /** Where an integration handles it; absent if core answers. */
  handler?: 'created' | 'deleted' | 'health' | 'metrics' | 'download' | 'functions'
  /** The place of the inputs if the event has none: nowhere else (`event`), or the platform’s record. */
  inputs: 'event' | 'platform'
} & (
  | {
      /** It leaves its deployment as it is. A call claims its delivery if its function has an effect. */
      claims: 'nothing' | 'call'
      publishes: false
      /** Whether it needs a deployment that was not deleted. */
      life: 'any' | 'needed'
      status?: never
    }
  | ({
      /** It changes its deployment: two deliveries never work on it at once. */
      claims: 'deployment'
      /** The status while the handler works, after a success, and after a final failure. */
      status: { working?: DeploymentStatus; done: DeploymentStatus; failed: DeploymentStatus }
      // It writes outputs, or a success leaves a tombstone.
    } & ({ publishes: true; life: 'begins' | 'needed' } | { publishes: false; life: 'ends' }))
)

const reading = { claims: 'nothing', publishes: false, inputs: 'platform' } as const

/** How core treats each event. A new event has its row here before it compiles. */
export const eventTraits = {
  WEBHOOK_CHALLENGE: { ...reading, life: 'any' },
  DEPLOYMENT_CREATED: {
    handler: 'created',
    claims: 'deployment',
    publishes: true,
    life: 'begins',
    inputs: 'event',
    status: { working: 'deploying', done: 'running', failed: 'failed' },
  },
  HEALTH_CHECK: { ...reading, handler: 'health', life: 'any' },
  METRIC_UPDATE: { ...reading, handler: 'metrics', life: 'needed' },
  FUNCTION_CALL: { ...reading, handler: 'functions', claims: 'call', life: 'needed' },
  DOWNLOAD_STARTED: { ...reading, handler: 'download', life: 'needed' },
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

/** The events that an integration may handle. */
export type HandledEvent = {
  [Name in EventName]: Table[Name] extends { handler: string } ? Name : never
}[EventName]

/** The name of the handler of an event. */
export type HandlerName<Event extends HandledEvent> = Table[Event]['handler']
