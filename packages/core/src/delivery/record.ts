/**
 * What a store keeps of a delivery, under seal: answers name people (a user, the recipients of a mail), and so
 * may what a function wrote down to go on from.
 *
 * @module
 */
import * as z from 'zod'
import type { AnswerBody } from '../response.ts'
import type { Claim } from './claim.ts'
import type { Json, RecordedAnswer } from './store.ts'
import { IntegrationError } from '../errors.ts'
import { isSealed, type Seal } from './encryption.ts'

interface PlainAnswer {
  status: number
  body: AnswerBody
}

/** An answer as a store may keep it. */
export async function sealAnswer({ status, body }: PlainAnswer, seal: Seal): Promise<RecordedAnswer> {
  return { status, body: await seal.close(body) }
}

/**
 * The answer to the same request again.
 *
 * @throws {IntegrationError} `outcome_unknown` where the record is damaged: the work was done, and must not be
 * done again
 */
export async function openAnswer({ status, body }: RecordedAnswer, seal: Seal): Promise<PlainAnswer> {
  try {
    return { status, body: z.record(z.string(), z.unknown()).parse(await seal.open(body)) }
  } catch (cause) {
    throw new IntegrationError(
      'outcome_unknown',
      'This delivery was answered before, and the record of its answer can’t be read.',
      { hint: 'Look at the provider what came of it.', cause },
    )
  }
}

/**
 * A claim whose lists and objects are written down under seal, and are read as they were. Words, numbers and
 * flags stay as they are: they are the names of steps, and ids.
 */
export async function withSealedNotes(claim: Claim, seal: Seal): Promise<Claim> {
  const progress: Record<string, Json> = {}
  for (const [name, value] of Object.entries(claim.progress)) progress[name] = await openNote(value, seal)
  return {
    ...claim,
    progress,
    async advance(name, value) {
      await claim.advance(name, typeof value === 'object' && value !== null ? await seal.close(value) : value)
      progress[name] = value
    },
  }
}

/** What can't be opened is left as it is, and so is no note that its reader understands. */
async function openNote(value: Json, seal: Seal): Promise<Json> {
  if (typeof value !== 'string' || !isSealed(value)) return value
  return seal
    .open(value)
    .then((note) => z.json().parse(note))
    .catch(() => value)
}
