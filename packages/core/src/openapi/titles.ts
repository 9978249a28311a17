import type { JsonSchema } from '../contract/manifest.ts'

/** Keywords under which there are values, and no schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'discriminator', 'enum', 'examples'])

/**
 * Writes each schema that has a title once: under its title, and as a reference wherever it occurs.
 *
 * @param schemas by name
 * @param refer makes the reference to a name
 * @returns the schemas and those with titles, in the order of their names
 */
export function shareTitled(
  schemas: Readonly<Record<string, JsonSchema>>,
  refer: (name: string) => JsonSchema,
): Record<string, JsonSchema> {
  const shared = new Map<string, JsonSchema>()

  function share(name: string, schema: JsonSchema): JsonSchema {
    const known = shared.get(name)
    if (known) return known
    const written = visitEach(schema)
    shared.set(name, written)
    return written
  }

  function visitEach(schema: JsonSchema): JsonSchema {
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, VALUES.has(key) ? value : visit(value)]),
    )
  }

  function visit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit)
    if (!isRecord(value)) return value
    const { title } = value
    const written = visitEach(value)
    // Of two that differ, only the first can have the title for its name.
    return typeof title === 'string' && isSame(share(title, schemas[title] ?? value), written)
      ? refer(title)
      : written
  }

  for (const [name, schema] of Object.entries(schemas)) share(name, schema)
  return Object.fromEntries([...shared].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Whether two say the same of a value, whichever examples they give of it. */
function isSame({ examples: _one, ...one }: JsonSchema, { examples: _other, ...other }: JsonSchema): boolean {
  return toText(one) === toText(other)
}

function toText(schema: JsonSchema): string {
  return JSON.stringify(schema, (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
