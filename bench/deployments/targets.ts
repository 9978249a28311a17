/**
 * Every way to deploy the host, configured as in production.
 *
 * @module
 */
import { TENANT_TOKEN } from '../../apps/sandbox/src/world.ts'
import type { TargetName } from './bundles.ts'
import { startLambda, startVercel } from './function-process.ts'
import { startNode } from './node-process.ts'
import type { Target, Variables } from './target.ts'
import { startWorker } from './worker-process.ts'

/** How each target is started. */
export const targets: Readonly<Record<TargetName, (variables: Variables) => Promise<Target>>> = {
  node: startNode,
  lambda: startLambda,
  vercel: startVercel,
  worker: startWorker,
}

/** What makes a configuration of the sandbox one of production. */
export function inProduction(variables: Variables, deliveryStore: string): Variables {
  return {
    ...variables,
    NODE_ENV: 'production',
    CORS_ORIGINS: 'https://app.example.com',
    ENV_REFERENCE_ALLOW: TENANT_TOKEN,
    DELIVERY_STORE: deliveryStore,
  }
}
