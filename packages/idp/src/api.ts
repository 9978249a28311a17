/** The form that the provider's Backend and Platform API share: calls, and refusals. */
import {
  type CallOptions,
  createProviderClient,
  type Provider,
  type ProviderClientOptions,
  type ProviderRequest,
  readJson,
} from '@org/core/http'
import * as z from 'zod'

/** The options of a client that concern no credential. */
export interface ConnectionOptions {
  /** @default 'https://api.clerk.com/v1' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Time limit of one method call with all its attempts, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /** Waits between two attempts. A test passes a function that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** Connects to one of the APIs with a bearer token. A call reads its response by a schema. */
export function connectApi(
  provider: Provider,
  { baseUrl = 'https://api.clerk.com/v1', headers, credential, ...options }: ApiOptions,
) {
  const authorization = `Bearer ${credential}`
  const all = { ...options, readJson, baseUrl, credential, headers: { ...headers, authorization } }
  const client = createProviderClient(provider, all)
  return {
    /** The options of several calls that share one deadline. */
    within: client.within,
    async call<Schema extends z.ZodType>(
      request: ProviderRequest,
      schema: Schema,
      options?: CallOptions,
    ): Promise<z.output<Schema>> {
      return client.call(request, (body) => schema.safeParse(body).data, options)
    },
  }
}
type ApiOptions = ConnectionOptions & Omit<ProviderClientOptions, keyof ConnectionOptions | 'readJson'>

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined)

const wireError = z
  .object({
    code: optionalText,
    message: optionalText,
    long_message: optionalText,
    // Anything but a name might be a value, and is left out.
    meta: z
      .object({ param_name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/) })
      .optional()
      .catch(undefined),
  })
  .transform(({ code, message, long_message, meta }) => ({
    code,
    message: long_message ?? message,
    words: long_message ?? message ?? code,
    name: meta?.param_name ?? '',
  }))

/**
 * Makes the schema of an error response's body. Errors in another format are left out.
 *
 * @param names the arguments that an error may name
 */
export function wireErrorsFor(names: readonly string[]) {
  const argumentNames = new Map(names.map((name) => [toSnakeCase(name), name]))
  return z
    .object({
      errors: z.array(wireError.nullable().catch(null)),
      clerk_trace_id: z
        .string()
        .regex(/^[\w-]{1,128}$/)
        .optional()
        .catch(undefined),
    })
    .transform(({ errors: all, clerk_trace_id: traceId }) => {
      const known = all.filter((error) => error !== null)
      const errors = known.flatMap(({ name, words }) =>
        words === undefined ? [] : { path: argumentNames.get(name) ?? name, message: words },
      )
      const { code, message } = known[0] ?? {}
      return { code, message, traceId, errors: errors.length === 0 ? undefined : errors }
    })
}

/** The provider's name of an argument. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
