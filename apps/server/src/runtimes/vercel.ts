/**
 * The host as one Vercel function, on its Node runtime.
 *
 * @module
 */
import { createFunctionHost } from './function-host.ts'
import { createNodeRuntime } from './node-runtime.ts'

const { fetch } = createFunctionHost(process.env, createNodeRuntime)

/** Vercel calls this for each request. */
export default { fetch }
