import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** The part that is read of what `npm publish` sends. */
interface Publication {
  name: string
  versions: object
  'dist-tags': object
  _attachments: Record<string, { data: string }>
}

/** Starts a registry in memory, for `npm publish` and `npm install` of one version of each package. */
export async function startRegistry() {
  const served = new Map<string, string | Buffer>()
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    if (request.method === 'PUT') {
      const { name, versions, 'dist-tags': tags, _attachments }: Publication = Object(await json(request))
      served.set(name, JSON.stringify({ name, versions, 'dist-tags': tags }))
      for (const [file, { data }] of Object.entries(_attachments))
        served.set(`${name}/-/${file}`, Buffer.from(data, 'base64'))
    }
    const found = served.get(path)
    response.writeHead(found ? 200 : 404).end(found ?? '{ "error": "not_found" }')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    /** For an `.npmrc`: these scopes come from here, and may be published here. */
    settings: (...scopes: string[]) =>
      [...scopes.map((scope) => `${scope}:registry=http://${host}/`), `//${host}/:_authToken=any`].join('\n'),
    close: () => server.close(),
  }
}
