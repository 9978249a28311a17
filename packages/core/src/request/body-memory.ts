/** The memory for bodies: one budget of a host for the bytes that have arrived, and for the events under way. */
import { overloaded } from '../shares.ts'

const MEBIBYTE = 1024 * 1024
/** For bodies that arrive, and for events under way. In bytes. */
const BUDGET = 64 * MEBIBYTE
/** Events under way leave the rest of the budget to bodies that arrive. In bytes. */
const UNDER_WAY = 48 * MEBIBYTE
/** For one deployment. An event counts for no more. In bytes. */
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
/** Addresses that are remembered because an event from them was signed. */
const MOST_KNOWN = 1_000
/** Makes the memory of a host. */
export function createBodyMemory() {
  const host = new HostMemory()
  return {
    /**
     * The memory for one request.
     *
     * @param address of the sender
     * @param now the time in milliseconds
     */
    open: (address: string, now: () => number) => new BodyMemory(host, address, now),
  }
}

/** About the memory that an event needs, in bytes. */
export function weightOf(bodyBytes: number, values: number): number {
  return Math.min(SHARE, COPIES * bodyBytes + values * BYTES_PER_VALUE)
}

/** Adds to the sum of a name. A sum of nothing takes no memory. */
export function addTo(sums: Map<string, number>, name: string, amount: number): void {
  const sum = (sums.get(name) ?? 0) + amount
  if (sum === 0) sums.delete(name)
  else sums.set(name, sum)
}

class HostMemory {
  readonly unfinished = new Set<BodyMemory>()
  readonly byAddress = new Map<string, number>()
  readonly byOwner = new Map<string, number>()
  readonly known = new Set<string>()
  arrived = 0
  underWay = 0
  shortReads = 0

  /**
   * Lets unfinished bodies give way until the budget is kept.
   *
   * @returns whether it is
   */
  makeRoom(at: number): boolean {
    while (this.arrived + this.underWay > BUDGET) {
      let next: BodyMemory | undefined
      for (const body of this.unfinished) if (!next || body.givesWayBefore(next, at)) next = body
      if (!next) return false
      next.giveWay()
    }
    return true
  }

  know(address: string): void {
    const [oldest = ''] = this.known
    if (this.known.size === MOST_KNOWN && !this.known.has(address)) this.known.delete(oldest)
    this.known.add(address)
  }
}

/** The memory for one request. Short bodies hold nothing. */
export class BodyMemory {
  readonly #host: HostMemory
  readonly #address: string
  readonly #now: () => number
  #cancel = () => {}
  /** When the body is late, unless more of it arrives. */
  #lateAt = 0
  #arrived = 0
  #gaveWay = false
  #owner = ''
  #weight = 0

  constructor(host: HostMemory, address: string, now: () => number) {
    this.#host = host
    this.#address = address
    this.#now = now
  }

  /**
   * Reads a short body without counting its bytes as they arrive, which would double the work on it.
   *
   * @returns `undefined` if so many are read in this way that together they would take much memory
   */
  readShort<Bytes>(read: () => Promise<Bytes>): Promise<Bytes> | undefined {
    if (this.#host.shortReads === SHORT_READS) return undefined
    this.#host.shortReads += 1
    return read().finally(() => {
      this.#host.shortReads -= 1
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
    this.#host.unfinished.add(this)
  }

  /**
   * Counts bytes that have arrived.
   *
   * @throws {IntegrationError} `overloaded` if this body gives way
   */
  arrive(bytes: number): void {
    this.#check()
    const at = this.#now()
    // After a halt, it is late until it has made up for a second of it.
    const lateAt = Math.max(at - PATIENCE_MS, this.#lateAt) + bytes / PACE
    this.#lateAt = Math.min(at + PATIENCE_MS, lateAt)
    this.#count(bytes)
    this.#host.makeRoom(at)
    this.#check()
  }

  /**
   * Call when the whole body has arrived. From then on, it does not give way.
   *
   * @throws {IntegrationError} `overloaded` if it gave way before
   */
  complete(): void {
    this.#check()
    this.#host.unfinished.delete(this)
  }

  /**
   * Counts an event instead of its body.
   *
   * @param owner the event's deployment, which has at most half of the memory
   * @param weight see {@link weightOf}
   * @throws {IntegrationError} `overloaded` if there is no room, though unfinished bodies gave way
   */
  work(owner: string, weight: number): void {
    const host = this.#host
    host.know(this.#address)
    this.free()
    if (weight <= LIGHT) return
    const own = host.byOwner.get(owner) ?? 0
    if (own + weight > SHARE) throw overloaded('large events of this deployment')
    if (host.underWay + weight > UNDER_WAY) throw overloaded('large events')
    this.#owner = owner
    this.#weigh(weight)
    if (host.makeRoom(this.#now())) return
    this.free()
    throw overloaded('large requests')
  }

  /** Call when the response has left. More calls do nothing. */
  free(): void {
    this.#host.unfinished.delete(this)
    this.#count(-this.#arrived)
    this.#weigh(-this.#weight)
  }

  /**
   * Late bodies give way first, then those of addresses that have signed no event, then those of the address that holds
   * the most; among these, the slowest.
   */
  givesWayBefore(other: BodyMemory, at: number): boolean {
    const [isLate, isOtherLate] = [this.#lateAt < at, other.#lateAt < at]
    if (isLate !== isOtherLate) return isLate
    const [isKnown, isOtherKnown] = [this.#isKnown, other.#isKnown]
    if (!isLate && isKnown !== isOtherKnown) return isOtherKnown
    const [held, heldByOther] = [this.#heldByAddress, other.#heldByAddress]
    if (!isLate && held !== heldByOther) return held > heldByOther
    return this.#lateAt < other.#lateAt
  }

  giveWay(): void {
    this.#gaveWay = true
    this.free()
    this.#cancel()
  }

  get #isKnown(): boolean {
    return this.#host.known.has(this.#address)
  }

  get #heldByAddress(): number {
    return this.#host.byAddress.get(this.#address) ?? 0
  }

  #count(bytes: number): void {
    this.#arrived += bytes
    this.#host.arrived += bytes
    addTo(this.#host.byAddress, this.#address, bytes)
  }

  #weigh(weight: number): void {
    this.#weight += weight
    this.#host.underWay += weight
    addTo(this.#host.byOwner, this.#owner, weight)
  }

  #check(): void {
    if (this.#gaveWay) throw overloaded('large requests')
  }
}
