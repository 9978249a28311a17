import { Worker } from 'node:worker_threads'

/** The sources have one extension, and the build another. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** Starts the thread of a store. The build of the host has a module of its own instead, with the program inside. */
export function startThread(workerData: { file: string }): Worker {
  return new Worker(new URL(`./sqlite-worker${extension}`, import.meta.url), { workerData })
}
