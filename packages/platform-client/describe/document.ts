/**
 * The callbacks as an OpenAPI document, for who builds a platform: `docs/platform-api.json`. It is made of the
 * schemas that the host’s side is typed by, and reads with.
 *
 * @module
 */
import { callbackBodies, toJsonSchema } from '@org/core'
import type * as z from 'zod'
import { deploymentRecord } from '../src/schema.ts'

interface Callback {
  method: 'put' | 'post'
  operationId: string
  summary: string
  description: string
  example: z.input<(typeof callbackBodies)[keyof typeof callbackBodies]>
}

const at = '2026-11-20T09:00:00.000Z'

/** Each callback that writes, by the last word of its path. */
const callbacks: Record<keyof typeof callbackBodies, Callback> = {
  status: {
    method: 'put',
    operationId: 'setStatus',
    summary: 'How a deployment is doing',
    description:
      'Replaces the status before. `deploying` and `running` come from DEPLOYMENT_CREATED, `stopped` from DEPLOYMENT_DELETED, `failed` from either of them where it failed for good, `running` and `unhealthy` from HEALTH_CHECK. May get lost: the event goes on without it.',
    example: {
      status: 'unhealthy',
      message: 'The mail provider failed: The server answered with status 503.',
    },
  },
  logs: {
    method: 'post',
    operationId: 'appendLogs',
    summary: 'What happened, for the person who owns the deployment',
    description: 'One call for each event, at its end. May get lost: the event goes on without it.',
    example: {
      entries: [
        {
          level: 'info',
          message: 'Connected to the mail server “Shop”.',
          timestamp: at,
          data: { serverType: 'dedicated' },
        },
      ],
    },
  },
  outputs: {
    method: 'put',
    operationId: 'setOutputs',
    summary: 'What a deployment publishes',
    description:
      'Replaces all outputs before. Comes between `deploying` and `running`. Those that `sensitive` names are secret: keep them encrypted, show them to nobody who may not use them, and send them back in events that need them. Must arrive: otherwise DEPLOYMENT_CREATED is answered with `platform_unavailable`, which is retryable.',
    example: {
      outputs: {
        apiToken: 'a-server-api-token',
        fromEmail: 'Shop <shop@example.com>',
        apiUrl: 'https://api.postmarkapp.com',
        messageStream: 'outbound',
      },
      sensitive: ['apiToken'],
    },
  },
  metrics: {
    method: 'post',
    operationId: 'reportMetrics',
    summary: 'What was measured',
    description:
      'One call for each METRIC_UPDATE, with a value for each metric of the integration (`GET /integrations` says which). May get lost: the answer to the event has the same values.',
    example: { metrics: [{ name: 'bounce_rate', value: 0.4, unit: 'percent', timestamp: at }] },
  },
  downloads: {
    method: 'put',
    operationId: 'putDownload',
    summary: 'Generated files',
    description:
      'What DOWNLOAD_STARTED asked for, under the id that it gave (`download.id`); without one there is no call. The files may hold secrets. Must arrive, as the outputs.',
    example: {
      files: [{ path: '.env.local', contentType: 'text/plain', content: 'CLERK_SECRET_KEY=sk_test_…\n' }],
    },
  },
}

const parameters = {
  DeploymentId: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The platform’s id of the deployment, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  },
  DownloadId: {
    name: 'downloadId',
    in: 'path',
    required: true,
    description: 'The id that DOWNLOAD_STARTED gave, percent-encoded.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description:
      '`<delivery id>:<step>.<run>`: the same for every repetition of one write. The step is `status-<status>`, `logs`, `outputs`, `metrics` or `download-<id>`; the run is new for every try of a delivery. What is no visible ASCII is percent-encoded. A write whose key was taken before is a repetition: answer it with success, and do nothing.',
    schema: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]+:(status-[a-z]+|logs|outputs|metrics|download-[\\x21-\\x7e]+)\\.[0-9a-f]{8}$',
    },
    example: 'evt_01JD5M:status-running.6f1c2a9b',
  },
}

const responses = {
  Unauthorized: {
    description:
      'The token is missing or wrong. The host does not repeat the call; its log names `PLATFORM_API_TOKEN`.',
  },
  Gone: {
    description:
      'The platform does not know the deployment. The host does not repeat the call, and takes it as an answer: a DEPLOYMENT_CREATED whose outputs nobody wants takes back what it made, and is answered with `ignored`.',
  },
  Refused: {
    description:
      'Any other 4xx: the call does not fit. The host does not repeat it. Do not answer so to a key that was taken before.',
  },
  TryAgain: {
    description:
      '408, 429, 500, 502, 503, 504, and connections that break: the host repeats the call with the same key, after `Retry-After` or a growing pause with jitter; at most five tries, and 15 seconds in all.',
    headers: {
      'Retry-After': {
        description: 'Seconds, or a date. Longer than what is left of the 15 seconds ends the call.',
        schema: { type: 'string' },
      },
    },
  },
}

const failures = {
  401: { $ref: '#/components/responses/Unauthorized' },
  404: { $ref: '#/components/responses/Gone' },
  '4XX': { $ref: '#/components/responses/Refused' },
  429: { $ref: '#/components/responses/TryAgain' },
  '5XX': { $ref: '#/components/responses/TryAgain' },
}

/** The document. */
export function describePlatformApi(): object {
  const writes = Object.entries(callbacks).map(([name, { method, example, ...described }]) => {
    const isDownload = name === 'downloads'
    return [
      `/deployments/{id}/${name}${isDownload ? '/{downloadId}' : ''}`,
      {
        [method]: {
          ...described,
          tags: ['callbacks'],
          parameters: [
            refer('parameters', 'DeploymentId'),
            ...(isDownload ? [refer('parameters', 'DownloadId')] : []),
            refer('parameters', 'IdempotencyKey'),
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: refer('schemas', schemaName(name)), example } },
          },
          responses: {
            200: {
              description:
                'Taken, now or before. What the answer says is not looked at; it is JSON, or empty.',
              content: { 'application/json': { schema: {} } },
            },
            204: { description: 'The same, with nothing to say.' },
            ...failures,
          },
        },
      },
    ]
  })
  const schemas = Object.entries(callbackBodies).map(([name, schema]) => [
    schemaName(name),
    toJsonSchema(schema, 'input'),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Platform callbacks',
      version: '1.0.0',
      summary: 'What the integration host asks a platform, and tells it.',
      description:
        'The platform’s side of the integration host: six calls below `PLATFORM_API_URL`. Take fields that are not in here for a newer host’s, and ignore them. Who reads rather than generates code: platform-api.md.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{platformApiUrl}',
        description: 'The platform, as `PLATFORM_API_URL` names it.',
        variables: { platformApiUrl: { default: 'http://localhost:4000' } },
      },
    ],
    security: [{ platformToken: [] }, {}],
    tags: [{ name: 'callbacks', description: 'About one deployment each; an event without one makes none.' }],
    paths: {
      '/deployments/{id}': {
        get: {
          operationId: 'getDeployment',
          summary: 'What the platform knows of a deployment',
          description:
            'At most once for each event, and only where the event does not carry what is needed: its inputs, or the outputs that were published. Without an answer the event fails with `platform_unavailable`, which is retryable.',
          tags: ['callbacks'],
          parameters: [refer('parameters', 'DeploymentId')],
          responses: {
            200: {
              description: 'The deployment. What is missing or null counts as empty.',
              content: {
                'application/json': {
                  schema: refer('schemas', 'Deployment'),
                  example: {
                    id: 'dep_123',
                    inputs: { serverType: 'shared' },
                    outputs: {},
                    status: 'deploying',
                  },
                },
              },
            },
            ...failures,
          },
        },
      },
      ...Object.fromEntries(writes),
    },
    components: {
      schemas: { Deployment: toJsonSchema(deploymentRecord, 'input'), ...Object.fromEntries(schemas) },
      parameters,
      responses,
      securitySchemes: {
        platformToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'PLATFORM_API_TOKEN of the host, on every call; none where it has none.',
        },
      },
    },
  }
}

function refer(kind: 'schemas' | 'parameters', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

/** `logs` as `Logs`. */
function schemaName(callback: string): string {
  return callback.charAt(0).toUpperCase() + callback.slice(1)
}
