import type { OpenApiOperation } from '@org/core/internal'
import { type Find, nameOf } from './schema.ts'

/** One event or one function of a webhook. */
export type Entry = ReturnType<typeof entriesOf>[number]

/** The events of a webhook, with its functions in the place of FUNCTION_CALL. */
export function entriesOf(path: string, { requestBody, tags, ...operation }: OpenApiOperation, find: Find) {
  const { schema, examples = {} } = requestBody?.content['application/json'] ?? {}
  return Object.entries(find(schema).discriminator?.mapping ?? {}).flatMap(([event, $ref]) => {
    const calls = find(find({ $ref }).properties?.functionCall).oneOf
    return (calls ?? [{ $ref }]).map((reference) => {
      const schema = find(reference)
      const { name, arguments: input, deployment } = schema.properties ?? {}
      const [title = event, ...aliases] = (name?.enum ?? []).map(String)
      const isGeneral = !calls && event !== 'DEPLOYMENT_CREATED'
      const inputs = isGeneral ? undefined : (input ?? find(deployment).properties?.inputs)
      const all = operation['x-responses']?.[title] ?? []
      return {
        event,
        title,
        aliases,
        path,
        /** Whether it is an event that is the same for every integration. */
        isGeneral,
        /** Its anchor on the page. */
        id: isGeneral ? title : `${tags[0]}-${title}`,
        /** The same for the same event or function of another webhook. */
        key: `${title} ${JSON.stringify(find(inputs))}`,
        description: schema.description,
        effect: schema['x-effect'],
        inputs,
        /** The successful response; none if the event is ignored. */
        response: all.find((response) => nameOf(response) !== 'IgnoredResponse'),
        example: examples[title]?.value,
      }
    })
  })
}
