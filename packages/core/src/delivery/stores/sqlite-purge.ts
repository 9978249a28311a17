import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod/mini'
import type { Transaction } from './sqlite-database.ts'
import { HOUR_MS } from './sqlite-schema.ts'

/** The time of one slice without its commit, in milliseconds. */
const SLICE_MS = 4
/** Rows between two looks at the clock. */
const ROWS = 32
/** Pages of 4,096 bytes that one slice gives back to the file system. */
const PAGES = 64
/** A quarter of the file may be free: the next records fill it. */
const LEAST_PAGES_A_FREE_PAGE = 4

const pageCounts = z.object({ free: z.int(), pages: z.int() })

/**
 * Makes the removal of what has expired for an hour at most.
 *
 * @returns a function that removes a slice of it at a time in milliseconds since 1970, and returns whether there may
 * be more
 */
export function createPurge(database: DatabaseSync, transaction: Transaction): (time: number) => boolean {
  // Answers first, because a record would take all of its own along at one stroke. No claim lasts until its record
  // expires.
  const removals = [
    `DELETE FROM answers WHERE (record, delivery) IN
       (SELECT record, delivery FROM answers WHERE expires / ${HOUR_MS} < ? LIMIT ${ROWS})`,
    `DELETE FROM records WHERE id IN
       (SELECT id FROM records WHERE expires / ${HOUR_MS} < ? LIMIT ${ROWS})`,
  ].map((sql) => database.prepare(sql))
  const countPages = database.prepare(
    'SELECT freelist_count AS free, page_count AS pages FROM pragma_freelist_count, pragma_page_count',
  )

  /** @returns whether there may be more */
  function remove(time: number): boolean {
    const end = performance.now() + SLICE_MS
    const hour = Math.floor(time / HOUR_MS)
    for (const removal of removals) {
      while (Number(removal.run(hour).changes) === ROWS) if (performance.now() > end) return true
    }
    return false
  }

  return (time) => {
    if (transaction(() => remove(time))) return true
    const { free, pages } = pageCounts.parse(countPages.get())
    if (free * LEAST_PAGES_A_FREE_PAGE <= pages) return false
    database.exec(`PRAGMA incremental_vacuum(${PAGES})`)
    return true
  }
}
