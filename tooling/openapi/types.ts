import openapiTypescript, { astToString } from 'openapi-typescript'

/** Generates a module that exports `paths` and `components`, for example for `openapi-fetch`. */
export async function generateTypes(document: object): Promise<string> {
  return astToString(await openapiTypescript(JSON.stringify(document), { silent: true }))
}
