import type { JsonSchema } from '../contract/json-schema.ts'
import type { Reference } from './document.ts'

/** See {@link createComponents}. */
export type Components = ReturnType<typeof createComponents>

/** Collects the schemas of the document by name. An object with a title is a component of that name wherever it is. */
export function createComponents() {
  const schemas = new Map<string, JsonSchema>()

  /** Gives a name to a schema, unless another one has it. */
  function claim(name: string, schema: JsonSchema): boolean {
    const owner = schemas.get(name) ?? schema
    schemas.set(name, owner)
    return JSON.stringify(owner) === JSON.stringify(schema)
  }

  /**
   * Adds a schema, and those in it that have a title.
   *
   * @throws {Error} if another schema has the name
   */
  function add(name: string, schema: JsonSchema): Reference {
    const shared = JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
      const { type, title } = Object(value)
      // A field of a form has a title, too: words for people.
      const isNamed = type === 'object' && /^[A-Z]\w*$/.test(title)
      return isNamed && claim(title, Object(value)) ? refer('schemas', title) : value
    })
    if (!claim(name, shared)) throw new Error(`Two schemas have the name ${name}.`)
    return refer('schemas', name)
  }

  return { schemas, add }
}

/** The reference to a component. */
export function refer(kind: 'schemas' | 'responses' | 'parameters' | 'headers', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` }
}

/** `idp-server` as `IdpServer`, `sendEmail` as `SendEmail`, and `HEALTH_CHECK` as `HealthCheck`. */
export function toPascalCase(name: string): string {
  const words = name.includes('_') ? name.toLowerCase() : name
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}
