/** Validates values against the schemas of an OpenAPI 3.1 document (JSON Schema 2020-12). */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** Validates a value against the schema at a place such as `#/components/schemas/Problem`. */
export type Check = (place: string, value: unknown) => string[]

/**
 * Makes a validator for a document.
 *
 * @returns a function that lists each fault as a line
 */
export function createValidator(document: object): Check {
  const ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  // A format of OpenAPI's own, which has no pattern.
  ajv.addFormat('base64', true)
  ajv.addSchema(document, 'document')
  return (place, value) => {
    const validate = ajv.getSchema(`document${place}`)
    if (!validate) throw new Error(`The document has no ${place}.`)
    validate(value)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
    )
  }
}
