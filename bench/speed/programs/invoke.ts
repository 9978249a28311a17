/** Loads a function and calls it once, as Lambda does: `invoke <bundle>`. Prints when the response came. */
import { pathToFileURL } from 'node:url'
import { toGatewayEvent } from '../../deployments/lambda-gateway.ts'

const { handler } = await import(pathToFileURL(process.argv[2] ?? '').href)
const event = await toGatewayEvent(new Request('https://function.example.com/healthz'))
const { statusCode } = await handler(event, { getRemainingTimeInMillis: () => 30_000 })
const { user, system } = process.cpuUsage()
const cpuMs = (user + system) / 1_000
console.log(JSON.stringify({ response: { statusCode, initMs: performance.now(), cpuMs } }))
