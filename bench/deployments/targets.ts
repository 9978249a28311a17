/** Every way to deploy the host, with its configuration in production. */
import { TENANT_TOKEN } from '../../apps/sandbox/src/world/world.ts'
import { startListening } from '../shared/processes.ts'
import { putAlone, type Target, type Variables } from './bundles.ts'
import { startLambda, startVercel } from './function-process.ts'
import { startWorker } from './worker-process.ts'

export const targets = { node: startNode, lambda: startLambda, vercel: startVercel, worker: startWorker }

export function inProduction(variables: Variables, deliveryStore: string): Variables {
  return {
    ...variables,
    NODE_ENV: 'production',
    CORS_ORIGINS: 'https://app.example.com',
    ENV_REFERENCE_ALLOW: TENANT_TOKEN,
    DELIVERY_STORE: deliveryStore,
  }
}

async function startNode(variables: Variables): Promise<Target> {
  const { folder, file } = putAlone('node')
  const { url, log, stop } = await startListening(file, { cwd: folder, environment: variables })
  return { url, log, close: () => stop().then(() => {}) }
}
