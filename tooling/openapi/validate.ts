/**
 * Whether a value is what an OpenAPI 3.1 document says, by JSON Schema 2020-12.
 *
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** Checks a value against what is written at a place of the document. */
export type Check = (place: string, value: unknown) => string[]

/**
 * Prepares a document.
 *
 * @returns a function of a place, as `#/components/schemas/Problem`, and a value: each fault as a line
 */
export function createValidator(document: object): Check {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  // OpenAPI has formats of its own, and says of them no more than their names.
  for (const format of ['base64']) ajv.addFormat(format, true)
  ajv.addSchema(document, 'document')
  return (place, value) => {
    const validate = ajv.getSchema(`document${place}`)
    if (!validate) throw new Error(`There is no ${place}.`)
    validate(value)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    )
  }
}
