/**
 * The parts that most programs do not need at their start: batches, templates, files and statistics.
 *
 * @module
 */
export { createBatchSender } from './batch-sender.ts'
export { sendRich } from './render.ts'
export { readStats } from './stats.ts'
