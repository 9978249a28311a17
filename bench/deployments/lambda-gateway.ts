/**
 * The gateway of AWS: it makes an event in payload format 2.0 of a request, as HTTP APIs and function URLs do, and a
 * response of the function's result.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'

/** Bodies of these content types arrive as text, all others as base64. */
const TEXT = /^(text\/.*|application\/(json|javascript|xml))\b/i

export async function toGatewayEvent(request: Request) {
  const { pathname, search, searchParams } = new URL(request.url)
  const cookies = request.headers.get('cookie')?.split('; ')
  const headers = Object.fromEntries([...request.headers].filter(([name]) => name !== 'cookie'))
  const bytes = Buffer.from(await request.arrayBuffer())
  const isText = TEXT.test(request.headers.get('content-type') ?? '')
  const apiId = 'a1b2c3d4e5'
  const domainName = `${apiId}.execute-api.eu-central-1.amazonaws.com`
  const now = new Date()
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    ...(cookies && { cookies }),
    headers: {
      ...headers,
      host: domainName,
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
    },
    ...(search && {
      queryStringParameters: Object.fromEntries(
        [...searchParams.keys()].map((name) => [name, searchParams.getAll(name).join(',')]),
      ),
    }),
    requestContext: {
      accountId: '123456789012',
      apiId,
      domainName,
      domainPrefix: apiId,
      http: {
        method: request.method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp: '192.0.2.1',
        userAgent: request.headers.get('user-agent') ?? '',
      },
      requestId: crypto.randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(bytes.length > 0 && { body: bytes.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: bytes.length > 0 && !isText,
  } satisfies APIGatewayProxyEventV2
}

export function toResponse(result: APIGatewayProxyStructuredResultV2): Response {
  const { statusCode: status = 200, headers = {}, body = '', isBase64Encoded = false, cookies = [] } = result
  const all = new Headers()
  for (const [name, value] of Object.entries(headers)) all.set(name, String(value))
  for (const cookie of cookies) all.append('set-cookie', cookie)
  const content = isBase64Encoded ? Buffer.from(body, 'base64') : body
  return new Response([204, 304].includes(status) ? null : content, { status, headers: all })
}
