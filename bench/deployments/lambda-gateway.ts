/**
 * The gateway of AWS: it makes an event in payload format 2.0 of a request, as HTTP APIs and function URLs do, and a
 * response of the function's result. It leaves out the fields that no adapter reads.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'

/** Bodies of these content types arrive as text, all others as base64. */
const TEXT = /^(text\/.*|application\/(json|javascript|xml))\b/i

export async function toGatewayEvent(request: Request) {
  const { method, headers } = request
  const { pathname: path, search } = new URL(request.url)
  const bytes = Buffer.from(await request.arrayBuffer())
  const isText = TEXT.test(headers.get('content-type') ?? '')
  const domainName = 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com'
  const forwarded = {
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
  }
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: search.slice(1),
    headers: { ...Object.fromEntries(headers), host: domainName, ...forwarded },
    requestContext: { domainName, http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1' } },
    ...(bytes.length > 0 && { body: bytes.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: bytes.length > 0 && !isText,
  }
}

export function toResponse(result: APIGatewayProxyStructuredResultV2): Response {
  const { statusCode: status = 200, headers = {}, body = '', isBase64Encoded = false } = result
  const all = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const content = isBase64Encoded ? Buffer.from(body, 'base64') : body
  return new Response([204, 304].includes(status) ? null : content, { status, headers: all })
}
