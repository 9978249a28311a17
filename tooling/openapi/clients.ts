/** Generates clients with types from an OpenAPI document. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate } from 'orval'

/**
 * Writes a client of each generator: `types.ts` for `openapi-fetch`, `hey/` with a function for each operation, and
 * `orval.ts`, the same on `fetch` alone.
 *
 * @param baseUrl the server that the client of orval calls; the others take it from their caller
 */
export async function generateClients(document: object, folder: string, baseUrl: string): Promise<void> {
  const input = join(folder, 'openapi.json')
  await writeFile(input, JSON.stringify(document))
  const types = openapiTypescript(JSON.stringify(document), { silent: true })
  await writeFile(join(folder, 'types.ts'), astToString(await types))
  await createClient({
    input,
    output: { path: join(folder, 'hey'), module: { extension: '.ts' } },
    logs: { level: 'silent' },
  })
  const output = { target: join(folder, 'orval.ts'), client: 'fetch', baseUrl } as const
  await generate({ input: { target: input }, output }, folder, { logLevel: 'error' })
}
