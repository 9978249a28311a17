import type { BackendApi, IdpInstance } from '../src/testing/index.ts'

/** What a call was answered. */
export interface Answer {
  status: number
  headers: Headers
  body: unknown
}

/** Makes a caller of the emulator over real HTTP, with the key of an instance. */
export function callerOf(url: () => string, backend: BackendApi) {
  return async function call(
    method: string,
    path: string,
    { body, instance = backend.instance, headers = {} }: CallOptions = {},
  ): Promise<Answer> {
    const response = await fetch(url() + path, {
      method,
      headers: {
        authorization: `Bearer ${instance.secretKey}`,
        'clerk-api-version': '2026-05-12',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
}

interface CallOptions {
  body?: unknown
  instance?: IdpInstance
  headers?: Record<string, string>
}
