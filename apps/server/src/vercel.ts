/**
 * The host as one Vercel function, on its Node runtime.
 *
 * @module
 */
import { createFunctionHost } from './function-host.ts'
import { onNode } from './on-node.ts'

const { fetch } = createFunctionHost(process.env, onNode)

/** What Vercel calls for each request. */
export default { fetch }
