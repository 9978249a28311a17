/** The capacity of a host: a number of events, and the memory of bodies that arrive and of events under way. */
import type { PlatformEvent } from '../contract/event.ts'
import { IntegrationError } from '../errors.ts'

/** For bodies that arrive, and for events under way. In bytes. */
const DEFAULT_MEMORY = 64 * 1024 * 1024
/** Events under way leave the rest of the memory to bodies that arrive. */
const UNDER_WAY = 3 / 4
/** For one deployment. An event counts for no more. */
const SHARE = UNDER_WAY / 2
/** The number of events bounds lighter ones. In bytes. */
const LIGHT = 64 * 1024
/** Short bodies that are read at a time without being counted: 16 MiB. */
const SHORT_READS = 256
/** A long text of an event is sent, or refused, as a copy. */
const COPIES = 3
/** A value of a few bytes becomes an object, and a message of a batch becomes a result. */
const BYTES_PER_VALUE = 300
/** A slower body is late. In bytes a millisecond. */
const PACE = (64 * 1024) / 1000
/** A body that stops is late after this time, in milliseconds. */
const PATIENCE_MS = 1_000
/** Addresses that are remembered at a time. */
const MOST_KNOWN = 1_000
/** Events under way at a time that call one server of deployments, as a part of all. */
const ORIGIN_PART = 1 / 32

/** Whose share of the host a deployment uses. */
export const ownerOf = ({ id, owner }: NonNullable<PlatformEvent['deployment']>) =>
  owner === undefined ? `deployment ${id}` : `owner ${owner}`

/** Limits how many events a host works on at a time, and the memory for them, over all its integrations. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>

/**
 * Makes a limit for the number of events at a time, and for their memory. One owner has at most a quarter of the number
 * and half of the memory: the platform's customer if the event names it, else the deployment, or together the events of
 * one integration that name none. So have, together, all events that call servers of deployments: these may be slow.
 *
 * @param memory for bodies that arrive and for events under way, in bytes
 */
export function createConcurrencyLimit(limit: number, memory = DEFAULT_MEMORY) {
  const room = createRoom(limit, memory)
  return {
    /** Events under way. */
    get active(): number {
      return room.events.total
    },
    /**
     * Begins with a request.
     *
     * @param address of the sender
     * @param now the time in milliseconds
     */
    open: (address: string, now: () => number) => new Place(room, address, now),
  }
}

/** Sums by name, and of all names. */
class Sums {
  readonly #sums = new Map<string, number>()
  total = 0

  of(name: string): number {
    return this.#sums.get(name) ?? 0
  }

  add(name: string, amount: number): void {
    const sum = this.of(name) + amount
    this.total += amount
    // A sum of nothing takes no memory.
    if (sum === 0) this.#sums.delete(name)
    else this.#sums.set(name, sum)
  }
}

/** Makes the room of a host, for so many events and so many bytes. */
const createRoom = (limit: number, memory: number) => ({
  limit,
  memory,
  unfinished: new Set<Place>(),
  /** The bytes that have arrived of bodies. */
  arrived: 0,
  /** The events under way of each owner, and the memory for them. */
  events: new Sums(),
  weights: new Sums(),
  /** The events that call servers of deployments, of each server and of each owner. */
  byOrigin: new Sums(),
  callers: new Sums(),
  /** The addresses of which an event was signed. */
  known: new Set<string>(),
  shortReads: 0,

  /**
   * Lets unfinished bodies give way until there is room.
   *
   * @param bytes that are not counted yet
   * @returns whether there is
   */
  makeRoom(bytes: number, at: number): boolean {
    while (this.arrived + this.weights.total + bytes > this.memory) {
      let next: Place | undefined
      for (const place of this.unfinished) if (!next || place.givesWayBefore(next, at)) next = place
      if (!next) return false
      next.giveWay()
    }
    return true
  },
})

type Room = ReturnType<typeof createRoom>

/** The place of one request: of its body, and then of its event. Short bodies hold nothing. */
export class Place {
  readonly #room: Room
  readonly #address: string
  readonly #now: () => number
  #cancel = () => {}
  /** When the body is late, unless more of it arrives. */
  #lateAt = 0
  #arrived = 0
  #gaveWay = false
  /** Set while the event is under way. */
  #owner: string | undefined
  #weight = 0
  /** The servers of its deployment that the event calls. */
  readonly #origins = new Set<string>()

  constructor(room: Room, address: string, now: () => number) {
    this.#room = room
    this.#address = address
    this.#now = now
  }

  /**
   * Reads a short body without counting its bytes as they arrive, which would double the work on it.
   *
   * @returns `undefined` if so many are read in this way that together they would take much memory
   */
  readShort<Bytes>(read: () => Promise<Bytes>): Promise<Bytes> | undefined {
    const room = this.#room
    if (room.shortReads === SHORT_READS) return undefined
    room.shortReads += 1
    return read().finally(() => {
      room.shortReads -= 1
    })
  }

  /**
   * Counts the body from now on. It may give way until it is complete.
   *
   * @param cancel ends the reading; called if the body gives way
   */
  begin(cancel: () => void): void {
    this.#cancel = cancel
    this.#lateAt = this.#now() + PATIENCE_MS
    this.#room.unfinished.add(this)
  }

  /**
   * Counts bytes that have arrived.
   *
   * @throws {IntegrationError} `overloaded` if this body gives way
   */
  arrive(bytes: number): void {
    this.#ensureRoom()
    const at = this.#now()
    // After a halt, it is late until it has made up for a second of it.
    const lateAt = Math.max(at - PATIENCE_MS, this.#lateAt) + bytes / PACE
    this.#lateAt = Math.min(at + PATIENCE_MS, lateAt)
    this.#count(bytes)
    this.#room.makeRoom(0, at)
    this.#ensureRoom()
  }

  /**
   * Call when the whole body has arrived. From then on, it does not give way.
   *
   * @throws {IntegrationError} `overloaded` if it gave way before
   */
  complete(): void {
    this.#ensureRoom()
    this.#room.unfinished.delete(this)
  }

  /**
   * Admits the event, and counts it instead of its body. Challenges, which call nobody, are admitted at any number.
   *
   * @param size of its JSON
   * @throws {IntegrationError} `overloaded` at a limit, or at the share of the owner
   */
  enter(
    { name, deployment }: PlatformEvent,
    route: string,
    { bytes, values }: { bytes: number; values: number },
  ): void {
    const room = this.#room
    // When there are too many, they all prove themselves again.
    if (room.known.size >= MOST_KNOWN) room.known.clear()
    room.known.add(this.#address)
    this.#forgetBody()
    const owner = deployment ? ownerOf(deployment) : `/${route} without a deployment`
    if (name !== 'WEBHOOK_CHALLENGE') {
      const share = Math.max(1, Math.floor(room.limit / 4))
      if (room.events.total >= room.limit) throw overloaded('events')
      if (room.events.of(owner) >= share) throw overloaded(`events of ${owner}`)
    }
    const needed = Math.min(room.memory * SHARE, COPIES * bytes + values * BYTES_PER_VALUE)
    const weight = needed > LIGHT ? needed : 0
    if (weight > 0) {
      if (room.weights.of(owner) + weight > room.memory * SHARE) throw overloaded(`large events of ${owner}`)
      if (room.weights.total + weight > room.memory * UNDER_WAY) throw overloaded('large events')
      if (!room.makeRoom(weight, this.#now())) throw overloaded('large requests')
    }
    this.#owner = owner
    this.#weight = weight
    room.events.add(owner, 1)
    room.weights.add(owner, weight)
  }

  /**
   * Admits the calls of the event to a server of its deployment.
   *
   * @throws {IntegrationError} `overloaded` if too many events call that server, or servers of deployments
   */
  callServer(origin: string): void {
    if (this.#origins.has(origin)) return
    const { limit, callers, byOrigin } = this.#room
    const owner = this.#owner ?? ''
    if (callers.total >= Math.ceil(limit / 4) || callers.of(owner) >= Math.ceil(limit / 16))
      throw overloaded('events that call servers of deployments')
    if (byOrigin.of(origin) >= Math.ceil(limit * ORIGIN_PART))
      throw overloaded('events that call this server')
    this.#origins.add(origin)
    byOrigin.add(origin, 1)
    callers.add(owner, 1)
  }

  /** Call once, when the request is answered. */
  leave(): void {
    const room = this.#room
    this.#forgetBody()
    for (const origin of this.#origins) room.byOrigin.add(origin, -1)
    room.callers.add(this.#owner ?? '', -this.#origins.size)
    if (this.#owner === undefined) return
    room.events.add(this.#owner, -1)
    room.weights.add(this.#owner, -this.#weight)
  }

  /** Late bodies give way first, then those of addresses that have signed no event; among these, the slowest. */
  givesWayBefore(other: Place, at: number): boolean {
    const { known } = this.#room
    const rank = (place: Place) => (place.#lateAt < at ? 0 : known.has(place.#address) ? 2 : 1)
    return (rank(this) - rank(other) || this.#lateAt - other.#lateAt) < 0
  }

  giveWay(): void {
    this.#gaveWay = true
    this.#forgetBody()
    this.#cancel()
  }

  #ensureRoom(): void {
    if (this.#gaveWay) throw overloaded('large requests')
  }

  #count(bytes: number): void {
    this.#arrived += bytes
    this.#room.arrived += bytes
  }

  #forgetBody(): void {
    this.#room.unfinished.delete(this)
    this.#count(-this.#arrived)
  }
}

/** The error for a host that has too much of something to do. */
function overloaded(what: string): IntegrationError {
  return new IntegrationError('overloaded', `This host has too many ${what} under way.`, { retryAfter: 1 })
}
