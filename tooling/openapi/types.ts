/**
 * The types of a client, generated from an OpenAPI document.
 *
 * @module
 */
import openapiTypescript, { astToString } from 'openapi-typescript'

/** A module that exports `paths` and `components`, for `openapi-fetch` and others. */
export async function generateTypes(document: object): Promise<string> {
  return astToString(await openapiTypescript(JSON.stringify(document), { silent: true }))
}
